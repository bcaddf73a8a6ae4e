"""PDF: the text as simple HTML, laid out by Qt in a process of its own (app/pdf.py), since no Qt is loaded here."""

from __future__ import annotations

import os
import subprocess
from html import escape

from engine.errors import Code, EngineError
from engine.exports.facts import facts
from engine.exports.paragraphs import Paragraph, clock, one_line, paragraphs
from engine.exports.spoken import is_right_to_left
from engine.program import PROGRAM, run_module
from engine.types import Transcript

_PATIENCE_S = 300.0  # a day of speech takes about 10 s


def write(transcript: Transcript) -> bytes:
    """Give the bytes of a .pdf file; EngineError INTERNAL when they cannot be made."""
    command = [PROGRAM, *run_module("app.pdf")]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    try:
        made = subprocess.run(
            command,
            input=_page(transcript).encode(),
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(Code.INTERNAL, f"PDF: {error}") from error
    if made.returncode or not made.stdout.startswith(b"%PDF"):
        raise EngineError(Code.INTERNAL, f"PDF: {made.stderr.decode(errors='replace').strip()[-500:]}")
    return made.stdout


def _page(transcript: Transcript) -> str:
    """What Qt's rich text knows of HTML."""
    title = escape(one_line(transcript.source)) or "Transcript"
    told = escape(" · ".join(facts(transcript)))
    text = "\n".join(map(_paragraph, paragraphs(transcript.segments)))
    head = f"<title>{title}</title>"
    return f"<html><head>{head}</head><body><h2>{title}</h2><p><small>{told}</small></p>\n{text}</body></html>"


def _paragraph(part: Paragraph) -> str:
    direction = ' dir="rtl"' if is_right_to_left(part.text) else ""
    name = f"<b>{escape(part.speaker)}</b>&nbsp; " if part.speaker else ""
    time = f'<small><font color="#707070">{clock(part.start)}</font></small>&nbsp; '
    return f"<p{direction}>{name}{time}{escape(part.text)}</p>"
