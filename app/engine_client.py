"""The window's side of the pipe: one warm engine process that takes one file after the other, or a recording."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.child import ENGINE
from app.hang_watch import HangWatch
from app.worker_process import WorkerProcess
from engine.endings import Death
from engine.errors import Code
from engine.hang_rule import SHORTEST_MS
from engine.program import PROGRAM
from engine.protocol import (
    VERSION,
    Done,
    Event,
    Failed,
    GoOn,
    Hold,
    Job,
    ProtocolError,
    Ready,
    decode_event,
    encode,
)

FILES_A_PROCESS = 20  # then a new one, whatever the libraries leak
QUIT_MS = 2_000  # how long the window waits at its own end for a killed process


class EngineClient(QObject):
    """Starts the engine, hands it files, and says what comes back or how it ended.

    A process that ends by itself, sends garbage or hangs is killed and announced once by `died`; the next
    `start` or `begin` begins a new one. After `kill` nothing of the old process arrives any more.
    """

    events = Signal(object)  # tuple[Event, ...]: what came in one turn, in order
    died = Signal(object)  # Death

    def __init__(
        self,
        data: Path,
        program: str = PROGRAM,
        arguments: tuple[str, ...] = (*ENGINE, "worker"),
        hang_ms: int = SHORTEST_MS,
        files_a_process: int = FILES_A_PROCESS,
    ) -> None:
        super().__init__()
        self.data = data
        self._program = program
        self._arguments = arguments
        self._files_a_process = files_a_process
        self._files = 0
        self._job = 0  # the one it is at
        self._is_held = False
        self._worker: WorkerProcess | None = None
        self._watch = HangWatch(hang_ms, self)
        self._watch.hung.connect(self._hung)

    def start(self) -> None:
        """Have a process ready, so that the first file need not wait for one."""
        self._running_worker()

    def begin(self, command: Job) -> None:
        """Hand a file or a recording to the engine; only when it has none."""
        if self._files >= self._files_a_process:
            self.kill()
        self._files += 1
        self._job = command.job
        worker = self._running_worker()
        worker.write(encode(command))
        self._watch.begin()
        if self._is_held:
            self.hold()

    def hold(self) -> None:
        """Let the engine finish its window and then wait, also one that is started meanwhile."""
        self._is_held = True
        self._watch.hold()
        if self._worker:
            self._worker.write(encode(Hold()))

    def go_on(self) -> None:
        """Hold no longer."""
        if not self._is_held:
            return
        self._is_held = False
        if self._worker:
            self._worker.write(encode(GoOn()))
            if self._job:
                self._watch.go_on()

    def kill(self) -> None:
        """End the engine at once, whatever it does; nothing is lost by it."""
        self._watch.end()
        self._files = self._job = 0
        if self._worker:
            self._worker.abandon()
            self._worker = None

    def stop(self) -> None:
        """At the window's end: no process is left behind."""
        self.kill()
        for worker in self.findChildren(WorkerProcess):
            worker.bury(QUIT_MS)

    def _running_worker(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = WorkerProcess(self.data, self._program, self._arguments, self)
            self._worker.lines.connect(self._take)
            self._worker.ended.connect(self._die)
            self._worker.start()
        return self._worker

    def _take(self, lines: tuple[bytes, ...]) -> None:
        worker = self._worker
        events: list[Event] = []
        garbage = ""
        try:
            for line in lines:
                events.append(self._understood(line))  # noqa: PERF401 (what came before the garbage counts)
        except (ProtocolError, RecursionError) as error:
            garbage = str(error)
        if events:
            self.events.emit(tuple(events))
        if garbage and worker is self._worker:
            self._die(Death(Code.ENGINE_GARBLED, garbage))

    def _understood(self, line: bytes) -> Event:
        event = decode_event(line)
        if isinstance(event, Ready) and event.version != VERSION:
            raise ProtocolError(f"the engine speaks version {event.version}, the window {VERSION}")
        self._watch.see(event)
        if isinstance(event, Done | Failed) and event.job == self._job:
            self._job = 0
            self._watch.end()
        return event

    def _hung(self, limit_ms: int) -> None:
        self._die(Death(Code.ENGINE_HUNG, f"No sign of life for {limit_ms / 1000:g} s."))

    def _die(self, death: Death) -> None:
        self.kill()
        self.died.emit(death)
