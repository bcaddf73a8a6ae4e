"""What a transcript can be written as: one file a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from engine.exports import ass, docx, html, json, lrc, markdown, pdf, srt, table, ttml, txt, vtt
from engine.exports.rules import CueRules
from engine.types import Transcript

Write: TypeAlias = Callable[[Transcript, CueRules], bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a transcript: the bytes of the file."""

    name: str
    label: str
    write: Write  # the rules are for formats that are cued
    is_subtitle: bool = False  # divided by the rules of subtitles
    is_text: bool = True  # UTF-8
    wants_words: bool = False  # better with the times of words

    @property
    def suffix(self) -> str:
        """The ending of its files, with the dot."""
        return f".{self.name}"


def _subtitles(name: str, label: str, write: Callable[[Transcript, CueRules], str]) -> Format:
    return Format(name, label, lambda made, rules: write(made, rules).encode(), is_subtitle=True, wants_words=True)


def _text(name: str, label: str, write: Callable[[Transcript], str], wants_words: bool = False) -> Format:
    return Format(name, label, lambda made, _rules: write(made).encode(), wants_words=wants_words)


def _document(name: str, label: str, write: Callable[[Transcript], bytes]) -> Format:
    return Format(name, label, lambda made, _rules: write(made), is_text=False)


_ALL = (
    _subtitles("srt", "SubRip subtitles", srt.write),
    _subtitles("vtt", "WebVTT subtitles", vtt.write),
    _subtitles("ass", "ASS subtitles", ass.write),
    _subtitles("ttml", "TTML subtitles (IMSC)", ttml.write),
    _subtitles("lrc", "LRC lyrics", lrc.write),
    _text("txt", "Plain text", txt.write),
    _text("md", "Markdown", markdown.write),
    _document("docx", "Word document", docx.write),
    _document("pdf", "PDF", pdf.write),
    _text("html", "Web page", html.write, wants_words=True),
    _text("json", "JSON with times", json.write),
    _text("csv", "CSV table", table.write_csv),
    _text("tsv", "TSV table", table.write_tsv),
)
FORMATS: dict[str, Format] = {format_.name: format_ for format_ in _ALL}
READERS: dict[str, Callable[[str], Transcript]] = {"json": json.read, "srt": srt.read, "vtt": vtt.read}
