"""One microphone session after the other: what the recorder tells, and what there is to say of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

from app.jobs import Jobs
from app.messages import Message, message
from app.microphone_permission import Permission
from app.recorder_client import RecorderClient
from app.wording import counted, seconds
from app.written_down import WrittenDown
from engine.endings import Death
from engine.errors import SENTENCES, Code, EngineError
from engine.library import Entry
from engine.recorder_protocol import (
    Command,
    Device,
    Event,
    Failed,
    Gap,
    Level,
    Lost,
    Opened,
    Overflow,
    Pause,
    Resume,
    Silent,
    Stop,
    Stopped,
)
from engine.recording import recover
from engine.types import Options

State: TypeAlias = Literal["ready", "starting", "recording", "paused", "finishing", "failed"]

_SILENT = Message(
    "The microphone is silent: nothing but zeros comes from it.",
    "Check that it is not muted, and that the system lets Sottovoce use it.",
)
_OVERFLOWS = "The system lost some sound"


class Recording(QObject):
    """`ready` → `starting` → `recording` ⇄ `paused` → `finishing` → `ready`; or `failed`, until the next start.

    The sound is safe whatever happens to the words: they come from the file, through a worker of their own, and
    files wait meanwhile. Times are milliseconds of the recording.
    """

    changed = Signal()  # the state, or any other property
    level = Signal(object)  # recorder_protocol.Level
    partial = Signal(int, str, str)  # start, firm and loose words
    segment = Signal(object)  # Segment, stored
    closed = Signal()  # the sound is complete on the disk; words may follow
    ended = Signal(int)  # entry id: all is text
    said = Signal(str)  # one line for the status line

    def __init__(self, jobs: Jobs, data: Path, permission: Permission, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._data, self._permission = data, permission
        self._recorder: RecorderClient | None = None
        self._folder: bytes | None = None
        self._options = Options()
        self.words = WrittenDown(jobs, self)
        self.state: State = "ready"
        self.device = ""
        self.elapsed = 0
        self.free_minutes: int | None = None
        self.trouble: Message | None = None  # what is wrong now; in the state "failed": why
        self._failed = False
        self.losses: list[str] = []  # what this recording has lost, a sentence each
        self.words.changed.connect(self.changed)
        self.words.partial.connect(self.partial)
        self.words.segment.connect(self.segment)
        self.words.over.connect(self._words_over)

    @property
    def is_open(self) -> bool:
        """Whether a recorder runs: sound is written, or soon will be, or is being closed."""
        return self._recorder is not None

    @property
    def entry_id(self) -> int | None:
        """The entry of this recording, or of the last one."""
        return self.words.entry_id

    @property
    def behind(self) -> int:
        """How far the text is behind the sound; 0 when nobody would notice."""
        return self.words.behind(self.elapsed)

    def start(self, options: Options, device: str = "", channel: int = 0) -> None:
        """Open the microphone of this name ("": the default one) and record; nothing while a recorder runs."""
        if self.is_open or self.state == "starting":
            return
        self._folder, self._options, self._failed = None, options, False
        self.device, self.elapsed, self.trouble, self.losses = "", 0, None, []
        self.words.get_ready()
        self.state = "starting"
        self.changed.emit()
        self._permission.ask(lambda granted: self._open(granted, device, channel))

    def pause(self) -> None:
        """Leave out what is said from now on."""
        if self.state == "recording":
            self._tell(Pause())
            self.state = "paused"
            self.changed.emit()

    def resume(self) -> None:
        """Go on."""
        if self.state == "paused":
            self._tell(Resume())
            self.state = "recording"
            self.changed.emit()

    def use_device(self, name: str) -> None:
        """Go on with another microphone; "" is the default one."""
        self._tell(Device(name))

    def stop(self) -> None:
        """Take what the microphone still has, close the recording; its words follow."""
        if self.is_open and self.state != "finishing":
            self._tell(Stop())
            self.state = "finishing"
            self.changed.emit()
        elif self.state == "starting":  # the system is still asking
            self._finish()
            self.changed.emit()

    def dismiss(self) -> None:
        """Nobody needs to read any more why it failed."""
        if self.state == "failed":
            self.state, self.trouble = "ready", None
            self.changed.emit()

    def _open(self, granted: bool, device: str, channel: int) -> None:
        if self.state != "starting" or self.is_open:
            return
        if not granted:
            self._fail(Code.MICROPHONE_REFUSED, "The system does not let Sottovoce hear it.")
            self._finish()
            self.changed.emit()
            return
        self._recorder = RecorderClient(self._data, device, channel, self)
        self._recorder.heard.connect(self._take)
        self._recorder.over.connect(self._recorder_over)

    def _tell(self, command: Command) -> None:
        if self._recorder:
            self._recorder.tell(command)

    def _take(self, event: Event) -> None:
        match event:
            case Opened():
                self._opened(event)
            case Level():
                self._show_level(event)
                return
            case Gap() | Overflow():
                self.losses = _with(self.losses, event)
            case Silent():
                self.trouble = _SILENT
            case Lost():
                todo = "Plug it in again, or another one: it goes on by itself."
                self.trouble = Message("The microphone is gone.", todo, event.detail)
            case Failed():
                self._fail(_known(event.code), event.detail)
            case Stopped():
                self.elapsed = event.ms
        self.changed.emit()

    def _opened(self, event: Opened) -> None:
        self.device, self.trouble = event.device, None
        if self.state == "starting":
            self.state = "recording"
        if self._folder is not None:
            return
        self._folder = event.folder
        try:
            self.words.follow(event.folder, self._options)
        except EngineError as error:  # the sound is safe; the next start finds the folder
            told = message(error.code, error.detail)
            self.trouble = Message(f"{told.what} The sound is recorded, but not written down.", told.todo, told.detail)

    def _show_level(self, event: Level) -> None:
        whole_second = event.at // 1000 != self.elapsed // 1000
        self.elapsed, self.free_minutes = event.at, event.free_minutes
        if self.trouble is _SILENT and event.peak > -100:
            self.trouble = None
            whole_second = True
        self.level.emit(event)
        if whole_second:
            self.changed.emit()

    def _fail(self, code: Code, detail: str) -> None:
        self._failed, self.trouble = True, message(code, detail)
        if self._folder is not None:
            self.said.emit(f"{SENTENCES[code]} What was recorded is kept.")

    def _recorder_over(self, death: Death | None) -> None:
        if self._recorder:
            self._recorder.deleteLater()
        self._recorder = None
        if death and not self._failed and not (self.state == "finishing" and self._folder is None):
            self._fail(Code.RECORDER_DIED, death.detail)
        if self._folder is not None:  # a full disk has no room to say that it was closed
            with suppress(EngineError):  # the next start tries again
                recover(Path(os.fsdecode(self._folder)))
        self.state = "finishing"
        if not self.words.is_going_on:
            self._finish()
        self.closed.emit()
        self.changed.emit()

    def _finish(self) -> None:
        self.words.let_go()
        self.state = "failed" if self._failed else "ready"
        if not self._failed:
            self.trouble = None

    def _words_over(self, entry: Entry) -> None:
        """All is text; or it was cancelled, or the engine cannot."""
        if self.is_open and entry.state == "cancelled":
            self.stop()
        elif self.is_open and entry.error:
            what = f"{SENTENCES[entry.error]} The sound is still recorded."
            self.trouble = Message(what, "Its words can be had afterwards: choose Retry.")
        elif not self.is_open and self.state == "finishing":
            self._finish()
            if entry.state == "done":
                self.ended.emit(entry.id)
        self.changed.emit()


def _with(losses: list[str], event: Gap | Overflow) -> list[str]:
    """The sentences about what was lost, with one more, or with a new count in the one about overflows."""
    if isinstance(event, Overflow):
        others = [loss for loss in losses if not loss.startswith(_OVERFLOWS)]
        return [*others, f"{_OVERFLOWS}, {counted(event.count, 'time')}."]
    if event.end == event.start:
        return losses
    return [*losses, f"Nothing was heard for {seconds(event.end - event.start)}: silence stands there."]


def _known(code: str) -> Code:
    try:
        return Code(code)
    except ValueError:
        return Code.INTERNAL
