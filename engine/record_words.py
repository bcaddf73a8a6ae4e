"""The words of a recording on the terminal while it is made: stored ones as lines, doubtful ones in one place."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from engine.child import EngineProcess
from engine.errors import Code, EngineError
from engine.protocol import Event, Failed, Listen, Partial, Progress, SegmentEvent
from engine.terminal import escaped, to_stdout
from engine.types import Options

_BEHIND_MS = 5_000


class RecordWords:
    """A worker of its own writes down what the recorder writes: if it dies, the recording does not notice."""

    def __init__(self, data: Path, options: Options) -> None:
        self._engine = EngineProcess(data)
        self._options = options
        self._thread: threading.Thread | None = None
        self.partial = ""  # words that are not sure yet
        self.behind = 0  # how far the words are behind the sound, in ms; 0 when nobody would notice
        self.failed: EngineError | None = None

    def begin(self, folder: Path) -> None:
        """Follow a recording; the words come from a thread of their own."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._follow, args=(folder,), name="words")
            self._thread.start()

    def finish(self) -> None:
        """Wait until all that was recorded is text; Ctrl-C does without the rest."""
        try:
            if self._thread is not None:
                self._thread.join()
        except KeyboardInterrupt:
            self.failed = EngineError(Code.ENGINE_DIED, "You ended it before all words were written down.")
        self._engine.close()
        if self._thread is not None:
            self._thread.join()

    def _follow(self, folder: Path) -> None:
        try:
            for event in self._engine.events(Listen(1, os.fsencode(folder), self._options)):
                self._take(event)
        except (EngineError, BrokenPipeError) as error:  # nobody takes the words any more
            self.failed = error if isinstance(error, EngineError) else EngineError(Code.NOT_WRITABLE, str(error))

    def _take(self, event: Event) -> None:
        match event:
            case SegmentEvent():
                self.partial = ""
                to_stdout(f"{escaped(event.segment.text.strip())}\n".encode())
            case Partial():
                self.partial = (event.firm + event.text).strip()
            case Progress(stage="listening", total=int(total)):
                late = total - event.done
                self.behind = late if late >= _BEHIND_MS else 0
            case Failed():
                self.failed = self.failed or EngineError(Code(event.code), event.detail)
            case _:
                pass
