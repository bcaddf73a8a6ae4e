"""The window's side of the recorder: a process of its own for each recording, told what to do, listened to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.child import ENGINE
from app.worker_process import WorkerProcess
from engine.endings import Death
from engine.errors import Code
from engine.program import PROGRAM
from engine.protocol import ProtocolError
from engine.recorder_protocol import Command, Stop, Stopped, decode_event, encode

_LAST_WORD_MS = 10_000  # so long may closing a recording take


class RecorderClient(QObject):
    """From its start to `over`, which comes once and last, however the recorder ends."""

    heard = Signal(object)  # an Event of engine/recorder_protocol.py
    over = Signal(object)  # Death, or None after its last word

    def __init__(self, data: Path, device: str, channel: int, parent: QObject) -> None:
        super().__init__(parent)
        chosen = [f"--device={device}"] if device else []
        chosen += [f"--channel={channel}"] if channel else []
        self._process = WorkerProcess(data, PROGRAM, (*ENGINE, "recorder", *chosen), self)
        self._process.lines.connect(self._take)
        self._process.ended.connect(self._end)
        self._stopped = self._is_over = False
        self._patience = QTimer(self, singleShot=True, interval=_LAST_WORD_MS)
        self._patience.timeout.connect(self._give_up)
        self._process.start()

    def tell(self, command: Command) -> None:
        """Returns at once; after Stop its last word is waited for."""
        if self._is_over:
            return
        self._process.write(encode(command))
        if isinstance(command, Stop):
            self._patience.start()

    def _take(self, lines: tuple[bytes, ...]) -> None:
        for line in lines:
            try:
                event = decode_event(line)
            except ProtocolError:
                continue  # sound counts more than a garbled line; the recording is on the disk
            self._stopped = self._stopped or isinstance(event, Stopped)
            self.heard.emit(event)

    def _end(self, death: Death | None) -> None:
        self._patience.stop()
        self._is_over = True
        self.over.emit(None if self._stopped else death)

    def _give_up(self) -> None:
        """It does not close the recording: end it, so that what is on the disk can be repaired."""
        self._process.abandon()
        self._end(Death(Code.RECORDER_DIED, f"It did not close the recording within {_LAST_WORD_MS // 1000} s."))
