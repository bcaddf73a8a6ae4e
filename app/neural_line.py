"""The line under a model on a Mac: how it stands with its encoder for the Neural Engine, and what can be done."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QGridLayout, QPushButton

from app.child import ENGINE
from app.look import Quiet
from app.model_task import ModelTask
from engine.backends import coreml_runtime
from engine.coreml.records import BUSY, State, Status, status_of, turn_off
from engine.errors import EngineError
from engine.folders import cache_folder
from engine.models.store import StoredModel
from engine.report import clock

_LOOK_MS = 1_000  # a step is shown with the time it has taken so far
_VERB = (*ENGINE, "coreml")


class NeuralLine(QObject):
    """Hidden where there is no Neural Engine. The preparation is a process of its own; its states are on the disk."""

    def __init__(self, data: Path, name: str, grid: QGridLayout, row: int, parent: QObject) -> None:
        super().__init__(parent)
        self._data, self._name = data, name
        self._sha256 = ""
        self._task: ModelTask | None = None
        self._status = Status(State.UNSUPPORTED)
        self.text = Quiet()
        self.text.setWordWrap(True)
        self.button = QPushButton()
        self.button.clicked.connect(self._act)
        grid.addWidget(self.text, row, 0, 1, 3)
        grid.addWidget(self.button, row, 3)
        self._looking = QTimer(self, interval=_LOOK_MS)
        self._looking.timeout.connect(self._look)
        self.show_state(None)

    def show_state(self, stored: StoredModel | None) -> None:
        """For this model file, if it is here."""
        self._sha256 = stored.sha256 or "" if stored else ""
        self._look()

    def stop(self) -> None:
        """End a preparation of ours; it goes on where it was when it is asked for again."""
        if self._task is not None:
            self._task.stop()
            self._task.deleteLater()
            self._task = None

    def _look(self) -> None:
        system = coreml_runtime.SYSTEM
        unsupported = system.unsupported()
        self._status = status_of(cache_folder(self._data), self._sha256, unsupported, system.build())
        shown = bool(self._sha256) and not unsupported
        self.text.setVisible(shown)
        label = self._label() if shown else ""
        self.button.setVisible(bool(label))
        self.button.setText(label)
        self.button.setAccessibleName(f"{label}: Neural Engine for {self._name}")
        self.text.setText(_said(self._status))
        running = shown and (self._task is not None or self._status.state in BUSY)
        (self._looking.start if running else self._looking.stop)()

    def _label(self) -> str:
        """What the button does; "" while another process is at work."""
        if self._task is not None:
            return "Cancel"
        if self._status.state in BUSY:
            return ""
        return "Turn off" if self._status.state is State.READY else "Prepare"

    def _act(self) -> None:
        if self._task is not None:
            self.stop()
        elif self._status.state is State.READY:
            self._turn_off()
        else:
            self._task = ModelTask(self._data, ("build", self._name), None, self, verb=_VERB)
            self._task.ended.connect(self._ended)
            self._task.start()
        self._look()

    def _turn_off(self) -> None:
        try:
            turn_off(cache_folder(self._data), self._sha256)
        except EngineError as error:
            self.text.setText(str(error))

    def _ended(self, error: str) -> None:
        if self._task is not None:
            self._task.deleteLater()
        self._task = None
        self._look()
        if error and self._status.state not in {State.FAILED, State.OFF}:  # it did not come so far as to write why
            self.text.setText(error.removeprefix("sottovoce coreml: "))


def _said(status: Status) -> str:
    """The state, why, and for how long."""
    if status.state not in BUSY:
        return str(status)
    return f"{status} ({clock(max(0, time.time_ns() // 1_000_000 - status.since))} so far)"
