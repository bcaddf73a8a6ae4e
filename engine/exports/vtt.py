"""WebVTT subtitles, as in the W3C's "WebVTT: The Web Video Text Tracks Format", section 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.exports.normalise import normalise
from engine.exports.scripts import tidy

if TYPE_CHECKING:
    from engine.types import Segment, Transcript

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # with > escaped, "-->" cannot occur either


def write(transcript: Transcript) -> str:
    """Give the text of a .vtt file; a cue with a speaker is a voice span."""
    cues = normalise(transcript.segments, transcript.duration)
    return "\n".join(["WEBVTT\n", *map(_cue, cues)]) if cues else "WEBVTT\n\n"


def _cue(cue: Segment) -> str:
    text = cue.text.translate(_ESCAPES)
    name = " ".join(tidy(cue.speaker or "").split()).translate(_ESCAPES)  # an annotation is one line
    voiced = f"<v {name}>{text}</v>" if name else text
    return f"{_clock(cue.start)} --> {_clock(cue.end)}\n{voiced}\n"


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"
