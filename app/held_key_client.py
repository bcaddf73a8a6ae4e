"""The window's side of the held key: a helper process that is there while the user wants it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from app.held_key_protocol import Pressed, Ready, Refused, Released, Type, decode_event, encode
from app.worker_process import WorkerProcess
from engine.endings import Death
from engine.program import PROGRAM, run_module


class HeldKey(QObject):
    """`watch` a key, or none; what goes wrong is one sentence in `refused`, and the key is not watched any more."""

    ready = Signal()
    pressed = Signal()
    released = Signal()
    refused = Signal(str)

    def __init__(self, data: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._data = data
        self._process: WorkerProcess | None = None

    @property
    def is_on(self) -> bool:
        """Whether a key is watched."""
        return self._process is not None

    def watch(self, key: str) -> None:
        """Watch this key ("Ctrl+Alt+Space") in place of the one before; "" watches none."""
        self.stop()
        if key:
            self._process = WorkerProcess(self._data, PROGRAM, (*run_module("app.held_key"), key), self)
            self._process.lines.connect(self._take)
            self._process.ended.connect(self._end)
            self._process.start()

    def type(self, text: str) -> bool:
        """Type into the program that has the focus; False when no process is there to do it."""
        if self._process is None:
            return False
        self._process.write(encode(Type(text)))
        return True

    def stop(self) -> None:
        """Watch nothing."""
        if self._process is not None:
            self._process.bury(2_000)
            self._process = None

    def _take(self, lines: tuple[bytes, ...]) -> None:
        for line in lines:
            try:
                event = decode_event(line)
            except msgspec.MsgspecError:
                continue
            match event:
                case Ready():
                    self.ready.emit()
                case Pressed():
                    self.pressed.emit()
                case Released():
                    self.released.emit()
                case Refused():
                    self.refused.emit(event.why)
                case _:
                    pass

    def _end(self, death: Death) -> None:
        self._process = None
        if death.detail != "It ended with code 1.":  # that is how it ends when it has said why
            self.refused.emit(f"The key is not watched any more. {death.detail.partition(chr(10))[0]}")
