"""All models that can be had: download, cancel, remove, and import of a file or folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.look import Label, Quiet, unit
from app.model_row import ModelRow
from app.model_task import ModelTask
from app.neural_line import NeuralLine
from app.settings import Settings
from engine.backends import coreml_runtime
from engine.errors import EngineError
from engine.folders import cache_folder, models_folder
from engine.graphs.built import bytes_by_model, remove_model
from engine.models.catalog import CATALOG
from engine.models.store import ModelStore

_PROMISE = (
    "Larger models make fewer mistakes and take longer. They are fetched from huggingface.co"
    " and checked against their hash; this is the only time the network is used."
)
_IMPORT = ""  # the task that has no row of its own


class ModelsDialog(QDialog):
    """Stays in the background when it is closed; downloads go on."""

    changed = Signal()  # models came or went
    arrived = Signal(str)  # the name of a model that was downloaded

    def __init__(self, data: Path, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Models")
        self._data = data
        self._store = ModelStore(models_folder(data))
        self._tasks: dict[str, ModelTask] = {}
        self.rows: dict[str, ModelRow] = {}
        self.neural: dict[str, NeuralLine] = {}
        self.low_power = _low_power(settings)
        self._grid = QGridLayout()
        self.message = Label()
        self.message.setWordWrap(True)
        self.stop_import = QPushButton("Cancel")
        self.stop_import.setAccessibleName("Cancel the import")
        self.stop_import.clicked.connect(lambda _checked: self._cancel(_IMPORT))
        step = unit(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * step, 4 * step, 4 * step, 4 * step)
        layout.setSpacing(3 * step)
        promise = Quiet(_PROMISE, scale=1.0)
        promise.setWordWrap(True)
        layout.addWidget(promise)
        layout.addWidget(self._list(), 1)
        layout.addWidget(self.low_power)
        said = QHBoxLayout()
        said.addWidget(self.message, 1)
        said.addWidget(self.stop_import)
        layout.addLayout(said)
        layout.addLayout(self._buttons())
        self.resize(150 * step, 140 * step)
        self._say("")
        self.refresh()

    def refresh(self) -> None:
        """Look which models are here, and what was built of them."""
        stored = {model.name: model for model in self._store.list()}
        sizes = {entry.name: entry.bytes for entry in CATALOG}
        for name, size in (sizes | {name: model.bytes for name, model in stored.items() if name not in sizes}).items():
            if name not in self.rows:
                self._add_row(name, size)
        built = bytes_by_model(cache_folder(self._data))
        for name, row in self.rows.items():
            if name not in self._tasks:
                model = stored.get(name)
                row.show_state(model, built=built.get(model.sha256 or "", 0) if model else 0)
            self.neural[name].show_state(stored.get(name))

    def download(self, name: str) -> None:
        """Get a model of the catalogue, or go on with that."""
        entry = next(entry for entry in CATALOG if entry.name == name)
        task = self._begin(name, ("download", name), self._store.part(entry))
        task.progress.connect(self.rows[name].show_progress)
        self.rows[name].show_progress(0)

    def import_model(self, path: str) -> None:
        """Take over a ggml file, or a folder of faster-whisper."""
        if _IMPORT not in self._tasks:
            self._begin(_IMPORT, ("import", path), None)
            self._say(f"Importing {Path(path).name}…")

    def stop(self) -> None:
        """At the window's end: a download goes on from here next time."""
        for name in list(self._tasks):
            self._cancel(name)
        for line in self.neural.values():
            line.stop()

    def _begin(self, name: str, arguments: tuple[str, ...], written: Path | None) -> ModelTask:
        task = self._tasks[name] = ModelTask(self._data, arguments, written, self)
        task.ended.connect(partial(self._ended, name))
        task.start()
        return task

    def _cancel(self, name: str) -> None:
        task = self._tasks.pop(name)
        task.stop()
        task.deleteLater()
        self.refresh()
        self._say("")

    def _ended(self, name: str, error: str) -> None:
        self._tasks.pop(name).deleteLater()
        self.refresh()
        self._say(error)
        if error and name in self.rows:
            self.rows[name].show_state(None, error)
        if not error:
            self.changed.emit()
            if name:
                self.arrived.emit(name)

    def _add_row(self, name: str, size: int) -> None:
        place = 2 * len(self.rows)
        row = self.rows[name] = ModelRow(name, size, self._grid, place)
        self.neural[name] = NeuralLine(self._data, name, self._grid, place + 1, self)
        row.button.clicked.connect(lambda _checked: self._act(row))
        row.cancel.clicked.connect(lambda _checked: self._cancel(name))

    def _act(self, row: ModelRow) -> None:
        if self._store.get(row.name) is None:
            self.download(row.name)
        elif row.is_sure():
            self._remove(row.name)

    def _remove(self, name: str) -> None:
        try:
            remove_model(self._store, name, cache_folder(self._data))
        except EngineError as error:
            self._say(str(error))
        self.refresh()
        self.changed.emit()

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.stop_import.setVisible(_IMPORT in self._tasks)

    def _list(self) -> QScrollArea:
        step = unit(self)
        self._grid.setHorizontalSpacing(4 * step)
        self._grid.setVerticalSpacing(step)
        self._grid.setColumnStretch(2, 1)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 2 * step, 0)
        column.addLayout(self._grid)
        column.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setWidget(inside)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return scroll

    def _buttons(self) -> QHBoxLayout:
        file, folder = QPushButton("Import a file…"), QPushButton("Import a folder…")
        file.setToolTip("A Whisper model as a ggml file (.bin)")
        folder.setToolTip("A faster-whisper folder with model.bin and tokenizer.json")
        file.clicked.connect(lambda: self._choose(QFileDialog.FileMode.ExistingFile))
        folder.clicked.connect(lambda: self._choose(QFileDialog.FileMode.Directory))
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(file)
        row.addWidget(folder)
        row.addStretch(1)
        row.addWidget(close)
        return row

    def _choose(self, mode: QFileDialog.FileMode) -> None:
        dialog = QFileDialog(self, "Import a model")
        dialog.setFileMode(mode)
        dialog.fileSelected.connect(self.import_model)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _low_power(settings: Settings) -> QCheckBox:
    """Whether the Neural Engine is taken even if something else is faster; shown where there is one."""
    box = QCheckBox("Prefer the Neural Engine: it takes less power, and may be slower")
    box.setChecked(settings.values.low_power)
    box.toggled.connect(lambda on: settings.change(low_power=on))
    box.setVisible(not coreml_runtime.SYSTEM.unsupported())
    return box
