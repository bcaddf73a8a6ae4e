"""Save a transcript as subtitles, text or JSON, or copy all of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from app.export_process import ExportProcess
from app.icons import set_icon
from app.messages import message
from app.settings import Settings
from engine.errors import Code
from engine.exports import FORMATS, Format
from engine.exports.rules import PRESETS
from engine.files import shown
from engine.library import Entry


class ExportMenu(QMenu):
    """For the entry that `entry` gives; `failed` carries a sentence and what tries again elsewhere."""

    saved = Signal(object)  # the path
    failed = Signal(str, object)
    said = Signal(str)

    def __init__(self, data: Path, settings: Settings, entry: Callable[[], Entry | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._data, self._settings, self._entry = data, settings, entry
        self._saves: dict[str, QAction] = {}
        for format_ in FORMATS.values():
            action = self.addAction(f"{format_.label} ({format_.suffix})…")
            action.triggered.connect(lambda _checked, chosen=format_: self.ask(chosen))
            self._saves[format_.name] = action
        self.presets = self.addMenu("Rules of subtitles")
        self.presets.aboutToShow.connect(self._fill_presets)
        self.addSeparator()
        self.copy_all = self.addAction("Copy all text")
        self.copy_all.setShortcut(QKeySequence("Ctrl+Shift+C"))
        self.copy_all.triggered.connect(lambda _checked: self._copy_all())
        set_icon(self.copy_all, "copy")
        self.aboutToShow.connect(self._mark_last)

    def set_possible(self, possible: bool) -> None:
        """Whether there is text to export."""
        for action in self.actions():
            action.setEnabled(possible)

    def ask(self, format_: Format) -> None:
        """Ask where to save, and save there; the dialog asks before it lets a file be replaced."""
        entry = self._entry()
        if entry is None:
            return
        dialog = QFileDialog(self.parentWidget(), "Export", str(_suggested(entry, format_, self._settings)))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"{format_.label} (*{format_.suffix})")
        dialog.setDefaultSuffix(format_.suffix)
        dialog.selectFile(_suggested(entry, format_, self._settings).name)
        dialog.fileSelected.connect(lambda path: self.save(entry.id, format_, Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def save(self, entry_id: int, format_: Format, path: Path) -> None:
        """Write the transcript as it is now; whole, or not at all. `saved` or `failed` follows."""
        self._settings.change(export_folder=str(path.parent), export_format=format_.name)

        def fail(code: Code, detail: str) -> None:
            told = message(code, detail)
            self.failed.emit(f"{path.name} was not saved. {told.what} {told.todo}", lambda: self.ask(format_))

        process = self._start(entry_id, format_, path)
        process.done.connect(lambda _nothing: self.saved.emit(path))
        process.failed.connect(fail)

    def finish(self) -> None:
        """At the window's end: what was asked for is written."""
        for process in self.findChildren(ExportProcess):
            process.finish()

    def _copy_all(self) -> None:
        entry = self._entry()
        if entry is None:
            return

        def copy(text: bytes) -> None:
            QGuiApplication.clipboard().setText(text.decode())
            self.said.emit("All text was copied.")

        process = self._start(entry.id, FORMATS["txt"], None)
        process.done.connect(copy)
        process.failed.connect(lambda code, detail: self.said.emit(f"{message(code).what} {detail}"))

    def _fill_presets(self) -> None:
        self.presets.clear()
        group = QActionGroup(self.presets)
        for rules in PRESETS.values():
            action = self.presets.addAction(rules.label)
            action.setCheckable(True)
            action.setChecked(rules.name == self._settings.values.export_preset)
            action.triggered.connect(lambda _checked, name=rules.name: self._settings.change(export_preset=name))
            group.addAction(action)

    def _start(self, entry_id: int, format_: Format, path: Path | None) -> ExportProcess:
        preset = self._settings.values.export_preset
        process = ExportProcess(self._data, entry_id, format_.name, preset, path, self)
        for end in (process.done, process.failed):
            end.connect(process.deleteLater)
        process.start()
        return process

    def _mark_last(self) -> None:
        """Enter in the menu takes the format that was used last."""
        last = self._saves.get(self._settings.values.export_format)
        if last is not None:
            self.setActiveAction(last)


def _suggested(entry: Entry, format_: Format, settings: Settings) -> Path:
    """The folder of the last export, else the recording's own; the recording's name with the format's suffix."""
    own = Path(os.fsdecode(os.path.dirname(entry.source)))  # noqa: PTH120 (bytes)
    folder = Path(settings.values.export_folder) if settings.values.export_folder else own
    title = shown(os.fsencode(entry.title))
    name = title.removesuffix(_suffix(entry.source)).replace("/", "-")
    return (folder if folder.is_dir() else Path.home()) / f"{name or 'transcript'}{format_.suffix}"


def _suffix(source: bytes) -> str:
    """The ending of a file's name; what follows the dot of "Interview Dr. Smith" is none."""
    suffix = shown(os.path.splitext(source)[1])  # noqa: PTH122 (bytes)
    return "" if " " in suffix else suffix
