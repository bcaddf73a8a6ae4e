"""Markdown: a heading, and paragraphs behind the name of who speaks and the time."""

from __future__ import annotations

import re

from engine.exports.facts import facts
from engine.exports.paragraphs import Paragraph, clock, one_line, paragraphs
from engine.types import Transcript

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_OPENING = re.compile(r"^(\d+)([.)])(?=\s)|^([-+=])(?=\s|$|-|=)")  # a number or dash that would begin a list or rule


def write(transcript: Transcript) -> str:
    """Give the text of an .md file (CommonMark); whatever was said shows as it is."""
    parts = [f"# {_escaped(one_line(transcript.source)) or 'Transcript'}"]
    if told := facts(transcript):
        parts.append(f"*{_escaped(' · '.join(told))}*")
    return "\n\n".join([*parts, *map(_paragraph, paragraphs(transcript.segments))]) + "\n"


def _paragraph(part: Paragraph) -> str:
    name = f"**{_escaped(part.speaker)}** " if part.speaker else ""
    return f"{name}`{clock(part.start)}` {_escaped(part.text)}"


def _escaped(text: str) -> str:
    return _OPENING.sub(lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", _SPECIAL.sub(r"\\\1", text))
