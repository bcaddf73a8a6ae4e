"""WebVTT subtitles, as in the W3C's "WebVTT: The Web Video Text Tracks Format", section 4."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.exports.cues import Cue, cues
from engine.exports.rules import PRESETS, CueRules
from engine.exports.scripts import tidy

if TYPE_CHECKING:
    from engine.types import Transcript

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # with > escaped, "-->" cannot occur either


def write(transcript: Transcript, rules: CueRules = PRESETS["plain"]) -> str:
    """Give the text of a .vtt file; a cue with a speaker is a voice span, karaoke has the times of its words."""
    made = cues(transcript.segments, transcript.duration, replace(rules, speakers="none"))
    return "\n".join(["WEBVTT\n", *(_cue(cue, rules.karaoke) for cue in made)]) if made else "WEBVTT\n\n"


def _cue(cue: Cue, karaoke: bool) -> str:
    if karaoke and cue.words and len(cue.lines) == 1:
        text = "".join(f"<{_clock(word.start)}>{word.text.translate(_ESCAPES)}" for word in cue.words)
        text = text.replace("> ", ">", 1)
    else:
        text = cue.text.translate(_ESCAPES)
    name = " ".join(tidy(cue.speaker or "").split()).translate(_ESCAPES)  # an annotation is one line
    voiced = f"<v {name}>{text}</v>" if name else text
    return f"{_clock(cue.start)} --> {_clock(cue.end)}\n{voiced}\n"


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"
