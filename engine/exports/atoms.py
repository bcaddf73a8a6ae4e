"""The smallest pieces of a transcript that may stand alone in a cue or line: words with what clings to them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from engine.exports.scripts import between, may_cut
from engine.exports.word_times import visible
from engine.types import Segment, Word


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of text that is never divided; `glue` is what stands between it and the one before."""

    text: str
    glue: str
    start: int
    end: int
    words: tuple[Word, ...]
    source: Segment  # what it is from: its speaker and language


def atoms_of(segments: Iterable[Segment]) -> list[Atom]:
    """All of them, in order. Without words a segment's time is shared out by characters."""
    atoms: list[Atom] = []
    for segment in segments:
        first, *rest = _atoms(segment)
        glue = between(atoms[-1].text, first.text) if atoms else ""
        atoms += [replace(first, glue=glue), *rest]
    return atoms


def width(text: str) -> int:
    """Columns: two for a wide character, none for a mark above or below one."""
    return sum(_columns(char) for char in text)


def text_of(atoms: Iterable[Atom]) -> str:
    """Their text as it was written."""
    return "".join(f"{atom.glue if place else ''}{atom.text}" for place, atom in enumerate(atoms))


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _atoms(segment: Segment) -> Iterator[Atom]:
    text = " ".join(segment.text.split())
    at, glue = 0, ""
    for end, start_ms, end_ms, words in _pieces(segment, text):
        piece = text[at:end]
        yield Atom(piece.strip(), glue, start_ms, end_ms, words, segment)
        glue = " " if piece.endswith(" ") or text[end : end + 1] == " " else ""
        at = end


def _pieces(segment: Segment, text: str) -> Iterator[tuple[int, int, int, tuple[Word, ...]]]:
    """Where each piece ends in the text, its times, its words."""
    if not segment.words:
        cuts = [at for at in range(1, len(text)) if text[at] != " " and may_cut(text, at, after_word=False)]
        length = segment.end - segment.start
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            first, last = (segment.start + length * place // len(text) for place in (start, end))
            yield end, first, last, ()
        return
    places = [index for index, char in enumerate(text) if char != " "]
    passed, words = 0, list[Word]()
    for number, word in enumerate(segment.words):
        words.append(word)
        passed += len(visible(word.text))
        is_last = number == len(segment.words) - 1
        end = len(text) if is_last else places[passed]
        if is_last or may_cut(text, end, after_word=True):
            yield end, words[0].start, words[-1].end, tuple(words)
            words = []
