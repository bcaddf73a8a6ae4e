"""Words with their times, and how far two accounts of the same words are apart."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.types import Segment

_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True, slots=True)
class Timed:
    """A word in lower case and where it is said, [start, end) in ms; `known` is whether the time can be trusted."""

    text: str
    start: int
    end: int
    known: bool = True


@dataclass(slots=True)
class Errors:
    """Signed errors in ms, of the words that both texts have."""

    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])

    def add(self, other: Errors) -> None:
        """Pool."""
        self.starts += other.starts
        self.ends += other.ends


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case, without punctuation."""
    return _WORD.findall(text.lower().replace("’", "'"))


def timed(segments: Iterable[Segment]) -> list[Timed]:
    """Our words as the ruler has them."""
    return [Timed("".join(words_of(word.text)), word.start, word.end) for segment in segments for word in segment.words]


def errors_of(found: Sequence[Timed], truth: Sequence[Timed]) -> Errors:
    """The errors of the words that both have, as far as the truth is known."""
    errors = Errors()
    texts = [word.text for word in truth], [word.text for word in found]
    for block in difflib.SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks():
        pairs = zip(truth[block.a : block.a + block.size], found[block.b : block.b + block.size], strict=True)
        for wanted, word in pairs:
            if wanted.known:
                errors.starts.append(word.start - wanted.start)
                errors.ends.append(word.end - wanted.end)
    return errors


def in_order(segments: Sequence[Segment]) -> bool:
    """Whether every word is inside its segment, and none begins before the one before it has ended."""
    times = [(word.start, word.end) for segment in segments for word in segment.words]
    flat = [time for pair in times for time in pair]
    inside = all(s.start <= word.start <= word.end <= s.end for s in segments for word in s.words)
    return inside and flat == sorted(flat)
