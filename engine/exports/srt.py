"""SubRip subtitles: number, times, text, empty line.

There is no standard; this is what SubRip wrote and every player reads. Lines end with LF: players take both,
and so does everything else that reads a text file.
"""

from __future__ import annotations

import re

from engine.errors import Code, EngineError
from engine.exports.cues import cues
from engine.exports.rules import PRESETS, CueRules
from engine.exports.scripts import tidy
from engine.exports.spoken import marked, unmarked
from engine.types import Segment, Transcript

_TIMES = re.compile(r"\s*(\d{1,9}):(\d\d):(\d\d)[,.](\d{3})\s*-->\s*(\d{1,9}):(\d\d):(\d\d)[,.](\d{3})(?:\s.*)?")
_LOOKS = re.compile(r"</?(?:b|i|u|s|font)(?:\s[^<>]*)?>|\{\\an?\d+\}", re.IGNORECASE)  # italics and places


def write(transcript: Transcript, rules: CueRules = PRESETS["plain"]) -> str:
    """Give the text of an .srt file; speakers are named as the rules have it."""
    made = cues(transcript.segments, transcript.duration, rules)
    # "-->" in a text would look like a line of times
    return "\n".join(
        f"{number}\n{_clock(cue.start)} --> {_clock(cue.end)}\n{marked(cue.text).replace('-->', '→')}\n"
        for number, cue in enumerate(made, 1)
    )


def read(text: str) -> Transcript:
    """Read anybody's .srt file, also with numbers or empty lines that are wrong; EngineError NOT_A_TRANSCRIPT."""
    lines = text.removeprefix("\ufeff").splitlines()
    heads = [(number, found) for number, line in enumerate(lines) if (found := _TIMES.fullmatch(line))]
    if not heads and any(line.strip() for line in lines):
        raise EngineError(Code.NOT_A_TRANSCRIPT, "No line has the times of a subtitle.")
    ends = [number - lines[number - 1].strip().isdigit() for number, _ in heads[1:]] + [len(lines)] * bool(heads)
    read = (_segment(found, lines[number + 1 : end]) for (number, found), end in zip(heads, ends, strict=True))
    return Transcript("", None, None, None, None, tuple(segment for segment in read if segment.text))


def _segment(found: re.Match[str], lines: list[str]) -> Segment:
    start, end = (_milliseconds(found.groups()[at : at + 4]) for at in (0, 4))
    text = tidy("\n".join(unmarked(_LOOKS.sub("", line).strip()) for line in lines))
    return Segment(start, end, text)


def _milliseconds(parts: tuple[str | None, ...]) -> int:
    hours, minutes, seconds, ms = (int(part or 0) for part in parts)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{ms:03}"
