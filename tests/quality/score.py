"""Errors between a text and its reference: words, or characters where words are not spaced."""

from __future__ import annotations

from dataclasses import dataclass

import jiwer
from whisper_normalizer.basic import BasicTextNormalizer
from whisper_normalizer.english import EnglishTextNormalizer

BY_CHARACTER = frozenset({"ja", "zh", "ko"})
_ENGLISH = EnglishTextNormalizer()
_BASIC = BasicTextNormalizer()
_BY_CHARACTER = BasicTextNormalizer(split_letters=True)


@dataclass(frozen=True, slots=True)
class Score:
    """Errors (substitutions, deletions, insertions) against so many units of the reference."""

    errors: int = 0
    units: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.errors + other.errors, self.units + other.units)

    @property
    def rate(self) -> float:
        """Errors a unit; 1 for text where there should be none."""
        return self.errors / self.units if self.units else float(self.errors > 0)


def units(text: str, language: str) -> list[str]:
    """Words or characters without case and punctuation."""
    if language in BY_CHARACTER:
        return _BY_CHARACTER(text).split()
    return (_ENGLISH if language == "en" else _BASIC)(text).split()


def score(text: str, reference: str, language: str) -> Score:
    """The least edits from `reference` to `text`."""
    wanted, got = units(reference, language), units(text, language)
    if not wanted or not got:
        return Score(max(len(wanted), len(got)), len(wanted))
    counted = jiwer.process_words(" ".join(wanted), " ".join(got))
    return Score(counted.substitutions + counted.deletions + counted.insertions, len(wanted))
