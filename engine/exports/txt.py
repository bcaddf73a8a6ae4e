"""Plain text to read: paragraphs without times."""

from __future__ import annotations

from engine.exports.paragraphs import paragraphs
from engine.types import Transcript


def write(transcript: Transcript) -> str:
    """Give the paragraphs with an empty line between them, each turn of a known speaker after the name."""
    told = (f"{part.speaker}: {part.text}" if part.speaker else part.text for part in paragraphs(transcript.segments))
    return "\n".join(f"{text}\n" for text in told)
