"""Word documents: a heading, and paragraphs behind the name of who speaks and the time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from engine.exports.facts import facts
from engine.exports.paragraphs import Paragraph, clock, one_line, paragraphs
from engine.exports.spoken import is_right_to_left
from engine.types import Transcript

if TYPE_CHECKING:
    from docx.document import Document


def write(transcript: Transcript) -> bytes:
    """Give the bytes of a .docx file."""
    import docx  # noqa: PLC0415 (lxml is only loaded where a document is written)

    document = docx.Document()
    title = one_line(transcript.source) or "Transcript"
    document.core_properties.title, document.core_properties.author = title[:255], ""
    document.core_properties.comments = ""  # else it names the library that wrote it
    document.add_heading(title, level=1)
    if told := facts(transcript):
        _grey(document.add_paragraph().add_run(" · ".join(told)))
    for part in paragraphs(transcript.segments):
        _add(document, part)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _add(document: Document, part: Paragraph) -> None:
    paragraph = document.add_paragraph()
    if part.speaker:
        paragraph.add_run(f"{part.speaker}  ").bold = True
    _grey(paragraph.add_run(f"{clock(part.start)}  "))
    said = paragraph.add_run(part.text)
    if is_right_to_left(part.text):
        _turn(paragraph, said)


def _grey(run: Any) -> None:  # noqa: ANN401 (a Run, whose module is not loaded)
    from docx.shared import Pt, RGBColor  # noqa: PLC0415

    run.font.size, run.font.color.rgb = Pt(9), RGBColor(0x70, 0x70, 0x70)


def _turn(paragraph: Any, run: Any) -> None:  # noqa: ANN401
    """From right to left, which the library has no name for."""
    properties = paragraph._p.get_or_add_pPr()  # noqa: SLF001
    properties.append(properties.makeelement(f"{{{properties.nsmap['w']}}}bidi"))
    run.font.rtl = True
