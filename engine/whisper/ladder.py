"""When words will not do: beams, then the full 30 s, then rising temperatures (openai/whisper, transcribe.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.types import Options
from engine.whisper.decode import Cache, Decoder, Hypothesis, Prompt, failed
from engine.whisper.mel import MAX_FRAMES
from engine.whisper.rules import Extent
from engine.whisper.vocabulary import Vocabulary

# Greedy words that are this unlikely on average are looked for again with beams. Of 48 recordings 8 had such windows;
# beams left 13 words fewer wrong in them, and changed as much for the worse as for the better in all others.
_DOUBTFUL = -0.3
_BEAMS = 5
_TEMPERATURES = (0.2, 0.5, 0.8)  # for what failed at 0
_CANDIDATES = 5  # samples at a temperature above 0; the best is taken

Hear = Callable[[int], Any]  # the cache of a window that is encoded with so many frames


class Ladder:
    """Decodes windows, and once more where that is needed."""

    def __init__(self, decoder: Decoder, vocabulary: Vocabulary) -> None:
        self._decoder = decoder
        self._vocabulary = vocabulary

    def first_try(
        self, cache: Cache, prompt: Prompt, extents: Sequence[Extent], options: Options
    ) -> Sequence[Hypothesis]:
        """Windows as the options ask for it: greedily, sampled at a temperature, or by beams."""
        if options.beam == 1 or options.temperature > 0:
            return self._decoder.sample(cache, prompt, extents, options.temperature)
        return [
            self._decoder.beam(cache.take([row]), prompt, extent, options.beam) for row, extent in enumerate(extents)
        ]

    def will_do(self, found: Hypothesis, options: Options) -> bool:
        """Whether the first try is neither a failure nor doubtful."""
        greedy = options.beam == 1 and options.temperature == 0
        return not self._fails(found) and not (greedy and self._doubtful(found))

    def better(
        self, found: Hypothesis, extent: Extent, frames: int, prompt: Prompt, options: Options, hear: Hear
    ) -> Hypothesis:
        """The best of `found` and of as many more tries as it takes until one is sound."""
        tried = [found]
        for another in self._tries(extent, frames, prompt, options, hear):
            tried.append(another)
            if not all(map(self._fails, tried)):
                break
        return max(tried, key=lambda h: (not self._fails(h), not h.loops, h.avg_logprob))

    def _tries(self, extent: Extent, frames: int, prompt: Prompt, options: Options, hear: Hear) -> Iterator[Hypothesis]:
        if options.beam == 1:
            yield self._decoder.beam(hear(frames), prompt, extent, _BEAMS)
        whole = hear(MAX_FRAMES)
        if frames < MAX_FRAMES:
            yield from self.first_try(whole, prompt, [extent], options)
        for temperature in _TEMPERATURES:
            rows = whole.take([0] * _CANDIDATES)
            several = self._decoder.sample(rows, prompt, [extent] * _CANDIDATES, temperature)
            yield max(several, key=lambda h: (not self._fails(h), h.avg_logprob))

    def _fails(self, hypothesis: Hypothesis) -> bool:
        return failed(hypothesis, self._vocabulary.text(hypothesis.tokens))

    def _doubtful(self, hypothesis: Hypothesis) -> bool:
        """Whether its words, times aside, are unlikely on average."""
        pairs = zip(hypothesis.tokens, hypothesis.logprobs, strict=False)
        words = [logprob for token, logprob in pairs if token < self._vocabulary.end]
        return sum(words) < _DOUBTFUL * len(words)
