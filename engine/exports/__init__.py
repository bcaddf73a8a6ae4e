"""What a transcript can be written as: one file a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.exports import json, srt, txt, vtt
from engine.types import Transcript


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a transcript; the text is to be stored as UTF-8, as it is."""

    name: str
    suffix: str
    label: str
    write: Callable[[Transcript], str]


FORMATS: dict[str, Format] = {
    "srt": Format("srt", ".srt", "SubRip subtitles", srt.write),
    "vtt": Format("vtt", ".vtt", "WebVTT subtitles", vtt.write),
    "txt": Format("txt", ".txt", "Plain text", txt.write),
    "json": Format("json", ".json", "JSON with times", json.write),
}
