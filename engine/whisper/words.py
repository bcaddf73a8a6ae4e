"""From tokens to words and segments: bytes are joined across tokens before they are decoded.

A token is a run of bytes, not of characters: "日" may come in two tokens. Words begin at a token with a
leading space, or, in languages written without spaces, at every character (as in openai/whisper's timing).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.types import Segment, Word

UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "yue"})
_OPENING = frozenset("\"'“¿([{-«‹„‚「『（【《")


@dataclass(frozen=True, slots=True)
class Token:
    """One text token: its bytes, its time in the window, its probability and the logarithm of it."""

    text: bytes
    start: int
    end: int
    probability: float
    logprob: float


def segment_from_tokens(tokens: Sequence[Token], start: int, end: int, language: str) -> Segment:
    """The segment [start, end] made of `tokens`, with words inside it and in order."""
    words = tuple(_in_order(words_from_tokens(tokens, language), start, max(start, end)))
    text = b"".join(token.text for token in tokens).decode("utf-8", "replace")
    logprob = sum(token.logprob for token in tokens) / len(tokens) if tokens else None
    return Segment(start, max(start, end), text.strip(), words, language=language, avg_logprob=logprob)


def words_from_tokens(tokens: Iterable[Token], language: str) -> list[Word]:
    """Tokens joined to words; punctuation belongs to the word before it, an opening one to the word after."""
    words: list[Word] = []
    spaced = language not in UNSPACED_LANGUAGES
    for character_run in _whole_characters(tokens):
        piece = _word(character_run)
        if words and _continues(words[-1].text, piece.text, spaced):
            words[-1] = _joined(words[-1], piece)
        else:
            words.append(piece)
    return words


def _whole_characters(tokens: Iterable[Token]) -> Iterable[list[Token]]:
    """Runs of tokens whose bytes together are whole characters."""
    run: list[Token] = []
    for token in tokens:
        run.append(token)
        try:
            b"".join(t.text for t in run).decode("utf-8")
        except UnicodeDecodeError:
            continue
        yield run
        run = []
    if run:
        yield run


def _word(run: Sequence[Token]) -> Word:
    text = b"".join(token.text for token in run).decode("utf-8", "replace")
    return Word(run[0].start, run[-1].end, text, sum(token.probability for token in run) / len(run))


def _joined(left: Word, right: Word) -> Word:
    probabilities = [p for p in (left.probability, right.probability) if p is not None]
    return Word(left.start, right.end, left.text + right.text, min(probabilities, default=None))


def _continues(before: str, piece: str, spaced: bool) -> bool:
    """Whether `piece` belongs to the word `before`."""
    bare = piece.strip()
    if not bare or before.strip() in _OPENING:
        return True
    if spaced:
        return not piece.startswith(" ")
    return all(unicodedata.category(char)[0] in "PSM" for char in bare) and bare not in _OPENING


def _in_order(words: Iterable[Word], start: int, end: int) -> Iterable[Word]:
    """The same words with times that never go back and stay within [start, end]."""
    at = start
    for word in words:
        begin = min(max(word.start, at), end)
        at = min(max(word.end, begin), end)
        yield Word(begin, at, word.text, word.probability)
