"""The line under the title of a transcript that is read: how long, which language, which model."""

from __future__ import annotations

from engine.exports.paragraphs import clock
from engine.languages import language_name
from engine.types import Transcript


def facts(transcript: Transcript) -> list[str]:
    """What is known, in words."""
    told = [clock(transcript.duration)] if transcript.duration else []
    told += [language_name(transcript.language)] if transcript.language else []
    return [*told, f"written down by Whisper {transcript.model}"] if transcript.model else told
