"""SubRip subtitles: number, times, text, empty line.

There is no standard; this is what SubRip wrote and every player reads. Lines end with LF: players take both,
and so does everything else that reads a text file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.exports.cues import Cue, cues
from engine.exports.rules import PRESETS, CueRules

if TYPE_CHECKING:
    from engine.types import Transcript


def write(transcript: Transcript, rules: CueRules = PRESETS["plain"]) -> str:
    """Give the text of an .srt file; speakers are named as the rules have it."""
    made = cues(transcript.segments, transcript.duration, rules)
    return "\n".join(_cue(number, cue) for number, cue in enumerate(made, 1))


def _cue(number: int, cue: Cue) -> str:
    text = cue.text.replace("-->", "→")  # in a text it would look like a line of times
    return f"{number}\n{_clock(cue.start)} --> {_clock(cue.end)}\n{text}\n"


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{ms:03}"
