"""LRC, what music players show: a line of text behind its time; in karaoke also a time before each word."""

from __future__ import annotations

from itertools import zip_longest

from engine.exports.cues import Cue, cues
from engine.exports.paragraphs import one_line
from engine.exports.rules import CueRules
from engine.exports.spoken import marked, word_pieces
from engine.types import Transcript

_GAP_MS = 2_000  # a pause of this length is shown as an empty line


def write(transcript: Transcript, rules: CueRules) -> str:
    """Give the text of an .lrc file; its times are hundredths of a second, hours are counted as minutes."""
    made = cues(transcript.segments, transcript.duration, rules)
    lines = [f"[ti:{one_line(transcript.source)}]"]
    for cue, following in zip_longest(made, made[1:]):
        lines.append(f"[{_clock(cue.start)}]{_text(cue, rules.karaoke)}")
        if following is None or following.start - cue.end >= _GAP_MS:
            lines.append(f"[{_clock(cue.end)}]")
    return "\n".join(lines) + "\n"


def _text(cue: Cue, karaoke: bool) -> str:
    pieces = word_pieces(cue) if karaoke else []
    text = "".join(f"<{_clock(word.start)}>{piece}" for word, piece in pieces) or marked(one_line(cue.text))
    return one_line(text) if pieces else f" {text}" if text.startswith("[") else text


def _clock(ms: int) -> str:
    minutes, rest = divmod(ms // 10, 6_000)
    return f"{minutes:02}:{rest // 100:02}.{rest % 100:02}"
