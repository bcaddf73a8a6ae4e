"""What to know of a file that can be read all the same: damage, gaps, late sound, cancelling channels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile

_SAME_PLACE = 2_000  # ms: what happens again this soon is one stretch, not a new notice
_MOST = 20  # notices of one code; a file with more has made its point


@dataclass(frozen=True, slots=True)
class MediaNotice:
    """Codes: damaged_at, gap, late_sound, channels_cancel. `start` and `end` are ms in the file."""

    code: str
    detail: str = ""
    start: int | None = None
    end: int | None = None


@dataclass(slots=True)
class Notices:
    """The notices of one file, in the order they came up."""

    entries: list[MediaNotice] = field(default_factory=list[MediaNotice])

    def add(self, code: str, start: int, end: int, detail: str = "") -> None:
        """One more, or a longer stretch of the last one of its code when it goes on right there."""
        same = [place for place, notice in enumerate(self.entries) if notice.code == code]
        last = self.entries[same[-1]] if same else None
        if last is not None and last.end is not None and start - last.end < _SAME_PLACE:
            self.entries[same[-1]] = replace(last, end=max(end, last.end))
        elif len(same) < _MOST:
            self.entries.append(MediaNotice(code, detail, start, end))

    def settled(self, position: int) -> list[MediaNotice]:
        """Those that can no longer grow once everything before `position` was read; a list that only gets longer."""
        return list(takewhile(lambda notice: position - (notice.end or 0) >= _SAME_PLACE, self.entries))
