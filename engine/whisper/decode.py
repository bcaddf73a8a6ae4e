"""Whisper's decoding over any runtime that runs its graphs: a batch of windows greedily or by sampling, one by beams.

Rules, thresholds and the ladder of temperatures are those of openai/whisper (decoding.py, transcribe.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.languages import CLEAR_LANGUAGE, CLEAR_LANGUAGE_MS
from engine.models.whisper_layout import TEXT_CONTEXT
from engine.whisper.align import MS_PER_POSITION
from engine.whisper.rules import Extent, Rules, logsumexp
from engine.whisper.vocabulary import Vocabulary

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]

MAX_TOKENS = 224  # half of the text context, as in openai/whisper; less behind the longest prompts
_LOOP_CHECK = 16  # tokens between two looks for a loop
_LOOP_ROUNDS = 4
_LOOP_TOKENS = 24
_LONGEST_LOOP = 40
_BLOCK = 64  # values

MAX_COMPRESSION = 2.4
MIN_LOGPROB = -1.0
MAX_NO_SPEECH = 0.6


@dataclass(frozen=True, slots=True)
class Step:
    """What one run of the decoder gives."""

    logits: Floats  # (b, vocab), of the last token; the decoder writes in it
    alignment: Floats  # (b, heads, n, positions)


class Cache(Protocol):
    """The keys and values of a batch."""

    rows: int
    length: int  # tokens so far

    def take(self, rows: Sequence[int]) -> Any:  # noqa: ANN401 (the same kind of cache)
        """The cache of some of its rows."""
        ...


class Graphs(Protocol):
    """A runtime with Whisper's graphs."""

    def step(self, tokens: NDArray[np.int64], cache: Any) -> Step:  # noqa: ANN401 (its own kind of cache)
        """Run tokens (b, n) behind what `cache` holds, and let it hold them too."""
        ...


@dataclass(slots=True)
class Hypothesis:
    """The tokens of one window, text and timestamps, without the end; what the decoder thought of them."""

    tokens: list[int] = field(default_factory=list[int])
    logprobs: list[float] = field(default_factory=list[float])
    attention: list[Halves] = field(default_factory=list[Halves])  # (heads, positions) for each token, if asked for
    no_speech: float = 0.0
    language: int | None = None  # the token that the prompt named, or the one that took its place
    ended: bool = False
    loops: bool = False

    @property
    def avg_logprob(self) -> float:
        """Mean log-probability of the tokens, the end among them."""
        return sum(self.logprobs) / (len(self.tokens) + 1)

    def extended(self, token: int, logprob: float, attention: Sequence[Halves]) -> Hypothesis:
        """A new hypothesis with one more token."""
        return Hypothesis(
            [*self.tokens, token],
            [*self.logprobs, logprob],
            [*self.attention, *attention],
            self.no_speech,
            self.language,
        )


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the decoder is given before it speaks: text that came before, then start, language and task.

    And whether it is to note where it heard each token, and whether a window that is clearly in another language
    is written in that one.
    """

    before: tuple[int, ...]
    start: tuple[int, ...]
    words: bool = False
    any_language: bool = False

    @property
    def most_tokens(self) -> int:
        """How many may follow: the decoder has a position for each token of its text context and no more."""
        return min(MAX_TOKENS, TEXT_CONTEXT - len(self.before) - len(self.start))


class Decoder:
    """Decodes windows whose cross keys and values are in a cache."""

    def __init__(self, graphs: Graphs, vocabulary: Vocabulary) -> None:
        self._graphs = graphs
        self._vocabulary = vocabulary
        self._rules = Rules(vocabulary)

    def sample(
        self, cache: Cache, prompt: Prompt, extents: Sequence[Extent], temperature: float, seed: int = 0
    ) -> list[Hypothesis]:
        """One hypothesis a row, greedy at temperature 0; `extents` of the windows bound their timestamps."""
        random = np.random.default_rng(seed)
        rows, most = [Hypothesis() for _ in extents], prompt.most_tokens
        step = self._begin(cache, prompt, rows, extents)
        active = list(range(len(rows)))
        while True:
            logits = step.logits
            self._rules.apply(logits, [rows[i].tokens for i in active], [extents[i] for i in active])
            chosen = logits.argmax(axis=1) if temperature == 0 else _drawn(logits / temperature, random)
            logprobs = logits[np.arange(len(active)), chosen] - logsumexp(logits)
            for place, i in enumerate(active):
                if not rows[i].ended:
                    heard = _heard_at(step, place, extents[i].length) if prompt.words else []
                    self._note(rows[i], int(chosen[place]), float(logprobs[place]), heard, most)
            if all(rows[i].ended for i in active):
                return rows
            active, cache, chosen = _without_ended(rows, active, cache, chosen)
            step = self._graphs.step(chosen[:, None].astype(np.int64), cache)

    def beam(self, cache: Cache, prompt: Prompt, extent: Extent, width: int) -> Hypothesis:
        """The best of `width` beams for one window, by mean log-probability."""
        first = Hypothesis()
        step = self._begin(cache, prompt, [first], [extent])
        beams, scores, done = [first], np.zeros(1, np.float32), list[Hypothesis]()
        for _ in range(prompt.most_tokens):
            logits = step.logits
            self._rules.apply(logits, [beam.tokens for beam in beams], [extent] * len(beams))
            totals = scores[:, None] + logits - logsumexp(logits)[:, None]
            heard = [_heard_at(step, i, extent.length) if prompt.words else [] for i in range(len(beams))]
            beams, scores, origins, finished = self._best(beams, totals, scores, heard, width)
            done += finished
            if len(done) >= width or not beams or self._loops(beams[0]):
                break
            cache = cache.take(origins)
            step = self._graphs.step(np.array([[beam.tokens[-1]] for beam in beams], np.int64), cache)
        best = max(done or beams, key=lambda hypothesis: hypothesis.avg_logprob)
        best.ended, best.loops = True, not done and goes_round(self._text(best))
        return best

    def _best(
        self, beams: Sequence[Hypothesis], totals: Floats, scores: Floats, heard: Sequence[Sequence[Halves]], width: int
    ) -> tuple[list[Hypothesis], Floats, list[int], list[Hypothesis]]:
        """The best continuations: beams, their scores, the beams they come from; and those that have ended."""
        size = totals.shape[1]
        flat = totals.reshape(-1)
        best = _highest(flat, 2 * width)
        kept, origins, finished = list[Hypothesis](), list[int](), list[Hypothesis]()
        kept_scores: list[float] = []
        for index in best[np.argsort(-flat[best])]:
            origin, token = divmod(int(index), size)
            if not np.isfinite(flat[index]) or len(kept) == width:
                break
            logprob = float(flat[index] - scores[origin])
            if token == self._vocabulary.end:
                ended = beams[origin]
                finished.append(replace(ended, logprobs=[*ended.logprobs, logprob]))
                continue
            kept.append(beams[origin].extended(token, logprob, heard[origin]))
            origins.append(origin)
            kept_scores.append(float(flat[index]))
        return kept, np.array(kept_scores, np.float32), origins, finished

    def _begin(self, cache: Cache, prompt: Prompt, rows: Sequence[Hypothesis], extents: Sequence[Extent]) -> Step:
        """Run the prompt; the start token alone tells how likely it is that nobody speaks, and the language."""
        before, (start, *rest) = prompt.before, prompt.start
        step = self._graphs.step(np.array([[*before, start]] * len(rows), np.int64), cache)
        silence = step.logits[:, self._vocabulary.no_speech] - logsumexp(step.logits)
        for row, value in zip(rows, silence, strict=True):
            row.no_speech = float(np.exp(value))
        if not rest:
            return step
        starts = np.array([rest] * len(rows), np.int64)
        if prompt.any_language:
            self._set_languages(starts[:, 0], step.logits, extents)
        for row, language in zip(rows, starts[:, 0], strict=True):
            row.language = int(language)
        return self._graphs.step(starts, cache)

    def _set_languages(self, languages: NDArray[np.int64], logits: Floats, extents: Sequence[Extent]) -> None:
        """Put another language's token in the place of the one asked for, in windows that leave no doubt."""
        tokens = np.array(list(self._vocabulary.languages.values()))
        found, probabilities = likeliest(logits[:, tokens])
        for i, extent in enumerate(extents):
            if extent.length >= CLEAR_LANGUAGE_MS and probabilities[i] >= CLEAR_LANGUAGE:
                languages[i] = tokens[found[i]]

    def _note(self, row: Hypothesis, token: int, logprob: float, heard: Sequence[Halves], most: int) -> None:
        row.logprobs.append(logprob)
        if token == self._vocabulary.end:
            row.ended = True
            return
        row.tokens.append(token)
        row.attention += heard
        row.loops = self._loops(row)
        row.ended = row.loops or len(row.tokens) >= most

    def _loops(self, row: Hypothesis) -> bool:
        """Whether the text goes round; looked for now and then."""
        return len(row.tokens) % _LOOP_CHECK == 0 and goes_round(self._text(row))

    def _text(self, row: Hypothesis) -> list[int]:
        return [token for token in row.tokens if token < self._vocabulary.end]


def likeliest(logits: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The place of the highest of each row's logits (b, n), and its probability among them."""
    best = logits.argmax(axis=1)
    return best, np.exp(logits[np.arange(len(best)), best] - logsumexp(logits))


def _heard_at(step: Step, row: int, length: int) -> list[Halves]:
    """The attention with which the next token is chosen, over the positions that hold sound (`length` in ms)."""
    positions = max(1, -(-length // MS_PER_POSITION))
    return [step.alignment[row, :, -1, :positions].astype(np.float16)]


def goes_round(tokens: Sequence[int]) -> bool:
    """Whether the last tokens are the same few, four times or more, over at least 24 tokens."""
    for size in range(1, min(_LONGEST_LOOP, len(tokens) // _LOOP_ROUNDS) + 1):
        span = max(size * _LOOP_ROUNDS, _LOOP_TOKENS)
        if len(tokens) >= span and all(tokens[-i] == tokens[-i - size] for i in range(1, span - size + 1)):
            return True
    return False


def compression(text: bytes) -> float:
    """How much smaller zlib makes the text: above 2.4 it repeats itself."""
    return len(text) / len(zlib.compress(text)) if text else 0.0


def failed(hypothesis: Hypothesis, text: bytes) -> bool:
    """Whether the window should be decoded again, as Whisper decides it."""
    if hypothesis.loops or compression(text) > MAX_COMPRESSION:
        return True
    return hypothesis.avg_logprob < MIN_LOGPROB and hypothesis.no_speech <= MAX_NO_SPEECH


def is_silence(hypothesis: Hypothesis) -> bool:
    """Whether the decoder itself thinks that nobody speaks, and has no good words either."""
    return hypothesis.no_speech > MAX_NO_SPEECH and hypothesis.avg_logprob < MIN_LOGPROB


def _highest(values: Floats, count: int) -> NDArray[np.int64]:
    """Where the `count` highest values are, in no order.

    Looked for only among values no lower than the best of that many blocks: a partition of all takes 30 times as long.
    """
    tops = np.maximum.reduceat(values, np.arange(0, len(values), _BLOCK))
    candidates = np.flatnonzero(values >= np.partition(tops, -count)[-count])
    return candidates[np.argpartition(values[candidates], -count)[-count:]]


def _drawn(logits: Floats, random: np.random.Generator) -> NDArray[np.int64]:
    """One token a row, drawn by its probability (Gumbel's trick)."""
    return (logits + random.gumbel(size=logits.shape)).argmax(axis=1)


def _without_ended(
    rows: Sequence[Hypothesis], active: list[int], cache: Cache, chosen: NDArray[np.int64]
) -> tuple[list[int], Cache, NDArray[np.int64]]:
    """Drop ended rows once half of the batch has ended: each drop copies the cross keys and values of the rest."""
    going = [place for place, i in enumerate(active) if not rows[i].ended]
    if 2 * len(going) > len(active):
        return active, cache, chosen
    return [active[place] for place in going], cache.take(going), chosen[going]
