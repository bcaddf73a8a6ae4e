"""Plain text to read: paragraphs without times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.exports.scripts import ends_sentence, join, tidy

if TYPE_CHECKING:
    from engine.types import Segment, Transcript

PAUSE_MS = 2_000  # a speaker who is silent for so long begins something new
LONG = 800  # characters; a paragraph of about a dozen lines ends with its sentence


def write(transcript: Transcript) -> str:
    """Give the paragraphs with an empty line between them, each turn of a known speaker after the name."""
    paragraphs: list[str] = []
    last: Segment | None = None
    for segment in sorted(transcript.segments, key=lambda segment: segment.start):
        text = _one_line(segment.text)
        if not text:
            continue
        turn = last is None or segment.speaker != last.speaker
        if last is None or turn or segment.start - last.end >= PAUSE_MS or _is_full(paragraphs[-1]):
            paragraphs.append(f"{_one_line(segment.speaker)}: {text}" if turn and segment.speaker else text)
        else:
            paragraphs[-1] = join(paragraphs[-1], text)
        last = segment
    return "\n".join(f"{paragraph}\n" for paragraph in paragraphs)


def _one_line(text: str) -> str:
    return " ".join(tidy(text).split("\n"))


def _is_full(paragraph: str) -> bool:
    return len(paragraph) >= LONG and ends_sentence(paragraph)
