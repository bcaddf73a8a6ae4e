"""What a transcript can be written as: one file a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.exports import json, srt, txt, vtt
from engine.exports.rules import PRESETS, CueRules
from engine.types import Transcript

_AS_IT_IS = PRESETS["plain"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a transcript."""

    name: str
    suffix: str
    label: str
    writer: Callable[[Transcript, CueRules], str]
    is_subtitle: bool = False  # its cues are made by rules; other formats have the text as it is

    def write(self, transcript: Transcript, rules: CueRules = _AS_IT_IS) -> str:
        """The text of a file, to be stored as UTF-8, as it is."""
        return self.writer(transcript, rules)


FORMATS: dict[str, Format] = {
    "srt": Format("srt", ".srt", "SubRip subtitles", srt.write, is_subtitle=True),
    "vtt": Format("vtt", ".vtt", "WebVTT subtitles", vtt.write, is_subtitle=True),
    "txt": Format("txt", ".txt", "Plain text", lambda transcript, _rules: txt.write(transcript)),
    "json": Format("json", ".json", "JSON with times", lambda transcript, _rules: json.write(transcript)),
}
