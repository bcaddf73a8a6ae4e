"""Whether the words can be believed: loops, one repeated character, speech that was left without text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from engine.types import WORDLESS_MS, Segment, SpeechSpan

REPEATS = "repeats"  # the flag of a segment whose text goes round in circles

_LONGEST_UNIT = 20  # words; Whisper's loops are a word, a phrase, rarely a long sentence
_MIN_ROUNDS = 4  # "no, no, no" is speech
_MIN_LOOP_WORDS = 8
_NONSENSE = 10  # one character so many times: what a broken GPU gives
_SOUNDS = re.compile(r"\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♩♪♫♬]+")


def loops(text: str) -> bool:
    """Whether some phrase follows itself at least four times, over at least eight words (or characters)."""
    words = text.lower().split()
    if len(words) < _MIN_LOOP_WORDS:
        words = list(text.replace(" ", ""))  # a language without spaces, or one long "word"
        return len(words) >= 4 * _MIN_LOOP_WORDS and _goes_round(words, 2 * _MIN_LOOP_WORDS)
    return _goes_round(words, _MIN_LOOP_WORDS)


def _goes_round(units: Sequence[str], least: int) -> bool:
    for size in range(1, min(_LONGEST_UNIT, len(units) // _MIN_ROUNDS) + 1):
        same = 0  # how many units in a row equal the one `size` before
        for i in range(size, len(units)):
            same = same + 1 if units[i] == units[i - size] else 0
            if same >= size * (_MIN_ROUNDS - 1) and same + size >= least:
                return True
    return False


def is_nonsense(text: str) -> bool:
    """Whether the text is one character over and over, as "!!!!!!!!!!" from a GPU that computes wrongly."""
    bare = text.replace(" ", "")
    return len(bare) >= _NONSENSE and len(set(bare)) == 1


def is_sound(text: str) -> bool:
    """Whether the text only names sounds, as "[Sighs]", "(music)" or "♪": nobody said it."""
    return not _SOUNDS.sub("", text).strip(" .,-")


def uncovered(speech: Iterable[SpeechSpan], segments: Sequence[Segment]) -> Iterator[SpeechSpan]:
    """Stretches of speech of 1.5 s or more over which no segment lies."""
    covered = sorted((segment.start, segment.end) for segment in segments)
    for span in speech:
        at = span.start
        for start, end in covered:
            if start - at >= WORDLESS_MS and start < span.end:
                yield SpeechSpan(at, start)
            at = max(at, min(end, span.end)) if start < span.end else at
        if span.end - at >= WORDLESS_MS:
            yield SpeechSpan(at, span.end)
