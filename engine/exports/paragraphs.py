"""What was said as a text to read: the segments of a speaker put together until there is a pause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.exports.scripts import ends_sentence, join, tidy
from engine.types import Segment

PAUSE_MS = 2_000  # a speaker who is silent for so long begins something new
LONG = 800  # characters; a paragraph of about a dozen lines ends with its sentence


@dataclass(frozen=True, slots=True)
class Paragraph:
    """At least one segment, each with text on one line; `speaker` is set where another one begins to speak."""

    segments: tuple[Segment, ...]
    speaker: str

    @property
    def start(self) -> int:
        """When it begins, in ms."""
        return self.segments[0].start

    @property
    def text(self) -> str:
        """Its text on one line."""
        text = ""
        for segment in self.segments:
            text = join(text, segment.text)
        return text


def paragraphs(segments: Iterable[Segment]) -> list[Paragraph]:
    """All that is not empty, in the order of time."""
    groups: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda segment: segment.start):
        said = replace(segment, text=one_line(segment.text), speaker=one_line(segment.speaker or "") or None)
        if not said.text:
            continue
        if groups and not _begins(said, groups[-1]):
            groups[-1].append(said)
        else:
            groups.append([said])
    before = [None, *(group[-1].speaker for group in groups)]
    return [Paragraph(tuple(group), _named(group[0], last)) for group, last in zip(groups, before, strict=False)]


def one_line(text: str) -> str:
    """The same text without line feeds and control characters."""
    return " ".join(tidy(text).split())


def clock(ms: int) -> str:
    """A time to read, such as 1:02:03 or 02:03."""
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def _named(segment: Segment, before: str | None) -> str:
    return segment.speaker if segment.speaker and segment.speaker != before else ""


def _begins(segment: Segment, group: Sequence[Segment]) -> bool:
    last = group[-1]
    is_full = sum(len(one.text) for one in group) >= LONG and ends_sentence(last.text)
    return segment.speaker != last.speaker or segment.start - last.end >= PAUSE_MS or is_full
