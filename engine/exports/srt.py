"""SubRip subtitles: number, times, text, empty line.

There is no standard; this is what SubRip wrote and every player reads. Lines end with LF: players take both,
and so does everything else that reads a text file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.exports.normalise import normalise
from engine.exports.scripts import tidy

if TYPE_CHECKING:
    from engine.types import Segment, Transcript


def write(transcript: Transcript) -> str:
    """Give the text of an .srt file; a speaker is named where another one begins to speak."""
    cues = normalise(transcript.segments, transcript.duration)
    speakers = [None, *(cue.speaker for cue in cues)]
    return "\n".join(_cue(number, cue, speakers[number - 1]) for number, cue in enumerate(cues, 1))


def _cue(number: int, cue: Segment, before: str | None) -> str:
    name = f"{' '.join(tidy(cue.speaker).split())}: " if cue.speaker and cue.speaker != before else ""
    text = f"{name}{cue.text}".replace("-->", "→")  # in a text it would look like a line of times
    return f"{number}\n{_clock(cue.start)} --> {_clock(cue.end)}\n{text}\n"


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{ms:03}"
