"""Speech that is still going on: provisional words that firm up from the left, and segments once it is over.

    utterance = Utterance(backend, options)
    utterance.draft(samples so far)     as often as there is time: what is said, the firm words apart
    utterance.final(window)             when the speaker pauses: decoded once more in full, with every guard

A word is firm when two drafts in a row agree on it and on all before it (LocalAgreement, Macháček et al. 2023). A
draft costs what its audio costs: a backend that can encodes no more of the window than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.audio.level import normalised
from engine.backends.base import Backend
from engine.decoding import decode_windows
from engine.speech.quality import is_sound, loops
from engine.speech.windows import Window
from engine.types import SAMPLES_PER_MS, WINDOW_MS, Options, Segment
from engine.whisper.words import UNSPACED_LANGUAGES

if TYPE_CHECKING:
    from engine.types import Samples


@dataclass(frozen=True, slots=True)
class Draft:
    """What seems to be said so far: `firm` stays through later drafts, `loose` behind it may still change."""

    firm: str
    loose: str


class Utterance:
    """One stretch of speech, of 30 s at most, heard from its beginning again and again while it grows."""

    def __init__(self, backend: Backend, options: Options) -> None:
        """`options.language` is a code."""
        self._backend = backend
        self._options = options
        self._firm: list[str] = []
        self._last: list[str] = []
        self._joint = "" if options.language in UNSPACED_LANGUAGES else " "

    def draft(self, samples: Samples) -> Draft:
        """The words in `samples`, all of the stretch so far; the last 30 s of it when there is more."""
        heard = normalised(samples[-WINDOW_MS * SAMPLES_PER_MS :])
        segments = self._backend.draft(heard, replace(self._options, words=False))
        text = " ".join(segment.text for segment in segments if not is_sound(segment.text))
        if not loops(text):  # else the last draft is the better one
            words = text.split() if self._joint else list(text.replace(" ", ""))
            agreed = _agreed(self._last, words)
            if len(agreed) > len(self._firm):
                self._firm += agreed[len(self._firm) :]
            self._last = words
        loose = self._joint.join(self._last[len(self._firm) :])
        return Draft(self._joint.join(self._firm), self._joint + loose if self._firm and loose else loose)

    def final(self, window: Window) -> list[Segment]:
        """The segments of the stretch now that it is over, in the time of the file that `window` was cut from."""
        return decode_windows(self._backend, [window], self._options)[0]


def _agreed(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The words with which both begin, as `other` writes them; case and punctuation aside."""
    pairs = takewhile(lambda pair: _bare(pair[0]) == _bare(pair[1]), zip(one, other, strict=False))
    return [word for _, word in pairs]


def _bare(word: str) -> str:
    return "".join(char for char in word.casefold() if char.isalnum()) or word
