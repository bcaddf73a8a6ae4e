"""Tables: one segment a row, times in seconds. CSV for spreadsheets, TSV for everything else."""

from __future__ import annotations

import csv
import io

from engine.exports.paragraphs import one_line
from engine.types import Transcript

_HEADER = ("start", "end", "speaker", "text")


def write_csv(transcript: Transcript) -> str:
    """Give the text of a .csv file (RFC 4180) with the mark by which spreadsheets know UTF-8."""
    file = io.StringIO()
    writer = csv.writer(file)  # lines end with CR LF, as RFC 4180 has it
    writer.writerows([_HEADER, *_rows(transcript)])
    return "\ufeff" + file.getvalue()


def write_tsv(transcript: Transcript) -> str:
    """Give the text of a .tsv file; there are no tabs in its fields, so that nothing is quoted."""
    return "".join("\t".join(row) + "\n" for row in [_HEADER, *_rows(transcript)])


def _rows(transcript: Transcript) -> list[tuple[str, str, str, str]]:
    return [
        (_seconds(segment.start), _seconds(segment.end), one_line(segment.speaker or ""), text)
        for segment in sorted(transcript.segments, key=lambda segment: segment.start)
        if (text := one_line(segment.text))
    ]


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.3f}"
