"""What the decoder may say next: Whisper's rules on its logits (openai/whisper, decoding.py), a batch at a time.

Suppressed are symbols that nobody speaks, special tokens, and timestamps that break the order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.types import WORDLESS_MS
from engine.whisper.segments import TIMESTAMP_MS
from engine.whisper.vocabulary import Vocabulary

Floats = NDArray[np.float32]

_MAX_FIRST_TIMESTAMP = 50  # the first words begin within a second of the window's start
_SPOKEN_DASHES = (b" -", b" '")  # a dash or quote at the start of speech: a guess at who speaks
_SYMBOLS = (
    '" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (\' (" (( )) ((( ))) [[ ]] '
    "{{ }} ♪♪ ♪♪♪ ♩ ♪ ♫ ♬ ♭ ♮ ♯"
).split(" ")
_MUSIC_PREFIX = "♩".encode()[:2]  # the token with which every sign of music begins


@dataclass(frozen=True, slots=True)
class Extent:
    """How long a window is, and until when someone speaks in it as far as that is known; in ms."""

    length: int
    speech: int = 0


class Rules:
    """The rules for one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._never = _never(vocabulary)
        self._not_first = np.array([*_tokens(vocabulary, [b" "]), vocabulary.end])

    def apply(self, logits: Floats, rows: Sequence[Sequence[int]], extents: Sequence[Extent]) -> None:
        """Set to -inf, in place, what may not follow the tokens said so far in windows of these extents.

        `logits` is (b, vocab).
        """
        logits[:, self._never] = -np.inf
        for row, said, extent in zip(logits, rows, extents, strict=True):
            row[self._vocabulary.first_timestamp + -(-extent.length // TIMESTAMP_MS) + 1 :] = -np.inf
            self._by_time(row, said)
            if self._stops_early(said, extent.speech):
                row[self._vocabulary.end] = -np.inf
        self._timestamp_when_likelier(logits)

    def _by_time(self, row: Floats, said: Sequence[int]) -> None:
        """Timestamps come in pairs (end, start) and never go back; the first token is one."""
        v = self._vocabulary
        if not said:
            row[self._not_first] = -np.inf
            row[: v.first_timestamp] = -np.inf
            row[v.first_timestamp + _MAX_FIRST_TIMESTAMP + 1 :] = -np.inf
            return
        last_is_time = said[-1] >= v.first_timestamp
        before_is_time = len(said) < 2 or said[-2] >= v.first_timestamp
        if last_is_time and before_is_time:
            row[v.first_timestamp :] = -np.inf
        elif last_is_time:
            row[: v.end] = -np.inf
        latest = max(said, key=lambda token: token if token >= v.first_timestamp else -1)
        if latest >= v.first_timestamp:
            first_allowed = latest if last_is_time and not before_is_time else latest + 1
            row[v.first_timestamp : first_allowed] = -np.inf

    def _stops_early(self, said: Sequence[int], until: int) -> bool:
        """Whether the end would come at a time behind which someone still speaks: Whisper leaves out what it takes for
        a sentence that the window cuts off.
        """
        at = (said[-1] - self._vocabulary.first_timestamp) * TIMESTAMP_MS if said else 0
        return at > 0 and until - at >= WORDLESS_MS

    def _timestamp_when_likelier(self, logits: Floats) -> None:
        """Where all timestamps together are likelier than any one text token, text may not follow."""
        first = self._vocabulary.first_timestamp
        best_text = logits[:, :first].max(axis=1)
        any_time = logsumexp(logits[:, first:])
        logits[any_time > best_text, :first] = -np.inf


def logsumexp(logits: Floats) -> Floats:
    """Logarithm of the sum of exponentials along each row; -inf for a row of -inf."""
    top = logits.max(axis=1)
    safe = np.where(np.isfinite(top), top, np.float32(0))
    with np.errstate(divide="ignore"):
        return np.log(np.exp(logits - safe[:, None]).sum(axis=1)) + safe


def _never(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Tokens that are never said: symbols, special tokens other than the end and timestamps, and any without a word."""
    texts = [symbol.encode() for symbol in _SYMBOLS]
    texts += [b" " + text for text in texts] + list(_SPOKEN_DASHES) + [_MUSIC_PREFIX, b" " + _MUSIC_PREFIX]
    special = range(vocabulary.start, vocabulary.first_timestamp)
    wordless = range(len(vocabulary.words), vocabulary.end)  # a file may have one word less than there are tokens
    return np.array(sorted({*_tokens(vocabulary, texts), *special, *wordless}))


def _tokens(vocabulary: Vocabulary, texts: Sequence[bytes]) -> list[int]:
    wanted = set(texts)
    return [token for token, word in enumerate(vocabulary.words[: vocabulary.end]) if word in wanted]
