"""Jobs that were cut off are offered to go on; whoever does not want that is not asked again."""

from __future__ import annotations

from app.jobs import Jobs
from app.wording import clock, counted
from engine.library import Entry


class Recovery:
    """What the window shows as a bar after its start, when `offer()` is not empty."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def offer(self) -> tuple[Entry, ...]:
        """The jobs that were cut off, oldest first; to be asked once `jobs.queue.start()` has marked them."""
        return tuple(entry for entry in reversed(self._jobs.entries()) if entry.state == "interrupted")

    def sentence(self) -> str:
        """What the bar says: "1 transcription was cut off. Go on from 0:41:20?"; "" when there is none."""
        cut = self.offer()
        if not cut:
            return ""
        where = f" from {clock(cut[0].settled)}" if len(cut) == 1 and cut[0].settled else ""
        return f"{counted(len(cut), 'transcription was', 'transcriptions were')} cut off. Go on{where}?"

    def go_on(self) -> None:
        """Go on with all of them."""
        for entry in self.offer():
            self._jobs.go_on(entry.id)

    def decline(self) -> None:
        """Leave them as they are: each can still go on from its row."""
        for entry in self.offer():
            self._jobs.cancel(entry.id)
