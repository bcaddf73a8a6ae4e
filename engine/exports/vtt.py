"""WebVTT subtitles, as in the W3C's "WebVTT: The Web Video Text Tracks Format", section 4."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise

from engine.errors import Code, EngineError
from engine.exports.cues import Cue, cues
from engine.exports.paragraphs import one_line
from engine.exports.rules import PRESETS, CueRules
from engine.exports.scripts import tidy
from engine.exports.spoken import word_pieces
from engine.types import Segment, Transcript, Word

_CLOCK = r"(?:(\d{1,9}):)?(\d\d):(\d\d)\.(\d{3})"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?")
_INNER_TIME = re.compile(rf"<{_CLOCK}>")
_VOICE = re.compile(r"\s*<v(?:\.[^\s>]*)?\s+([^>]*)>")
_TAGS = re.compile(r"<[^>]*>")

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # with > escaped, "-->" cannot occur either
_KARAOKE = "STYLE\n::cue { font-weight: bold; }\n::cue(:future) { color: rgba(255, 255, 255, 0.45); }\n"


def write(transcript: Transcript, rules: CueRules = PRESETS["plain"]) -> str:
    """Give the text of a .vtt file; a cue with a speaker is a voice span, words have times if they light up."""
    made = cues(transcript.segments, transcript.duration, replace(rules, speakers="none"))
    style = [_KARAOKE] if rules.karaoke else []
    return "\n".join(["WEBVTT\n", *style, *(_cue(cue, rules.karaoke) for cue in made)]) if made else "WEBVTT\n\n"


def read(text: str) -> Transcript:
    """Read anybody's .vtt file; EngineError NOT_A_TRANSCRIPT."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].split()[:1] != ["WEBVTT"]:
        raise EngineError(Code.NOT_A_TRANSCRIPT, "It does not begin with WEBVTT.")
    heads = [(number, found) for number, line in enumerate(lines) if (found := _TIMES.fullmatch(line))]
    read = (_segment(found, _until_empty(lines, number + 1)) for number, found in heads)
    return Transcript("", None, None, None, None, tuple(segment for segment in read if segment.text))


def _until_empty(lines: list[str], at: int) -> str:
    end = next((number for number in range(at, len(lines)) if not lines[number].strip()), len(lines))
    return "\n".join(lines[at:end])


def _segment(found: re.Match[str], text: str) -> Segment:
    start, end = (_milliseconds(*found.groups()[at : at + 4]) for at in (0, 4))
    voice = _VOICE.match(text)
    name = one_line(unescape(voice[1])) if voice else None
    return Segment(start, end, _plain(text), _words(text, start, end), speaker=name or None)


def _words(text: str, start: int, end: int) -> tuple[Word, ...]:
    """Of a text with a time before each word but the first; nothing for any other."""
    first, *rest = _INNER_TIME.split(text)
    begins = [start, *(_milliseconds(*rest[at : at + 4]) for at in range(0, len(rest), 5))]
    pieces = [_plain(piece).strip() for piece in (first, *rest[4::5])]
    if not rest or not all(pieces) or any(" " in piece or "\n" in piece for piece in pieces):
        return ()
    times = zip(begins, [*begins[1:], end], pieces, strict=True)
    return tuple(Word(begin, until, f" {piece}") for begin, until, piece in times)


def _plain(text: str) -> str:
    return tidy(unescape(_TAGS.sub("", text)))


def _milliseconds(hours: str | None, minutes: str, seconds: str, ms: str) -> int:
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(ms)


def _cue(cue: Cue, karaoke: bool) -> str:
    text = (_timed(cue) if karaoke else "") or cue.text.translate(_ESCAPES)
    name = re.sub("-$", "&#45;", one_line(cue.speaker or "").translate(_ESCAPES))  # "--" would make an arrow with ">"
    voiced = f"<v {name}>{text}</v>" if name else text
    return f"{_clock(cue.start)} --> {_clock(cue.end)}\n{voiced}\n"


def _timed(cue: Cue) -> str:
    """The text with a time before each word but the first; these rise, within the cue, or are left out."""
    pieces = word_pieces(cue)
    text, last = "".join(piece for _word, piece in pieces[:1]).translate(_ESCAPES), cue.start
    for _before, (word, piece) in pairwise(pieces):
        if last < word.start < cue.end:
            text += f"<{_clock(word.start)}>"
            last = word.start
        text += piece.translate(_ESCAPES)
    return text


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"
