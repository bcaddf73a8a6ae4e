"""Our own engine over any runtime that runs its graphs: encoder, cross and decoder, only as long as the audio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.models.ggml import GgmlModel
from engine.stopwatch import Stopwatch
from engine.types import SAMPLES_PER_MS, OperatorTime, Options, Phase, Segment
from engine.whisper.align import token_starts
from engine.whisper.alignment_heads import onset_lags
from engine.whisper.bpe import encoded
from engine.whisper.decode import Cache, Decoder, Floats, Graphs, Hypothesis, Prompt, Step, failed, is_silence
from engine.whisper.mel import FRAMES_PER_SECOND, MAX_FRAMES, log_mel
from engine.whisper.onsets import token_onsets
from engine.whisper.rules import Extent, logsumexp
from engine.whisper.segments import segments_from_tokens
from engine.whisper.vocabulary import Vocabulary
from engine.whisper.words import Token

if TYPE_CHECKING:
    from engine.types import Samples

# Silence that the encoder hears behind the audio. With 1 or 2 s the decoder falls into loops on some recordings,
# with 5 s it did on none; what still loops is decoded again with all 30 s.
_SILENCE_FRAMES = 5 * FRAMES_PER_SECOND
# Greedy words that are this unlikely on average are looked for again with beams. Of 48 recordings 8 had such windows;
# beams left 13 words fewer wrong in them, and changed as much for the worse as for the better in all others.
_DOUBTFUL = -0.3
_BEAMS = 5
_TEMPERATURES = (0.2, 0.5, 0.8)  # for what failed at 0
_CANDIDATES = 5  # samples at a temperature above 0; the best is taken
_PROMPT_TOKENS = 223  # half of the text context less one, as in openai/whisper


class Runtime(Graphs, Protocol):
    """All graphs of a model in a runtime; what the encoder gives stays in a form of its own."""

    def encode(self, mel: Floats) -> Any:  # noqa: ANN401 (its own kind of tensor)
        """One window's (1, mels, frames) → the encoder's output (1, frames / 2, width)."""
        ...

    def cross(self, encoded: Sequence[Any]) -> Cache:
        """An empty cache over the cross keys and values of windows that are equally long, a row each."""
        ...

    def operators(self) -> tuple[OperatorTime, ...]:
        """Time by graph and operator since it was loaded, asked once; empty unless it was told to measure."""
        ...


class _TimedSteps:
    """A decoder graph, each step of which is timed as a run of "decode"."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self.watch = Stopwatch()

    def step(self, tokens: NDArray[np.int64], cache: Cache) -> Step:
        """See `Graphs.step`."""
        with self.watch.stage("decode"):
            return self._graphs.step(tokens, cache)


class GraphWhisper:
    """A model whose graphs a runtime runs; see `engine.backends.base.Backend`."""

    gpu = False

    def __init__(self, name: str, device: str, batch: int, runtime: Runtime, model: GgmlModel, folder: Path) -> None:
        """`runtime` has loaded the graphs in `folder`, which were built from `model`."""
        self.name = name
        self.device = device
        self.batch = batch
        self._vocabulary = Vocabulary.of(model)
        self._filters = model.filters.copy()
        self._lags = onset_lags(model.hyper)
        self._runtime = runtime
        self._steps = _TimedSteps(runtime)
        self._decoder = Decoder(self._steps, self._vocabulary)
        self._watch = self._steps.watch
        self._heard: dict[tuple[bytes, int], Any] = {}  # what the encoder made of the windows at hand
        self._buffers = {"weights": sum(file.stat().st_size for file in folder.glob("*.weights"))}
        self.multilingual = self._vocabulary.multilingual

    def decode(self, batch: Sequence[Samples], options: Options, speech: Sequence[int] = ()) -> list[list[Segment]]:
        """Segments of each window; see `Backend.decode`."""
        until = speech or [0] * len(batch)
        extents = [Extent(len(samples) // SAMPLES_PER_MS, end) for samples, end in zip(batch, until, strict=True)]
        prompt = self._prompt(options)
        frames = _frames_for(max(extent.length for extent in extents))
        found = self._first_try(self._cache(batch, frames), prompt, extents, options)
        segments = [
            self._segments(self._better(hypothesis, samples, extent, frames, prompt, options), extent.length, options)
            for hypothesis, samples, extent in zip(found, batch, extents, strict=True)
        ]
        self._heard.clear()
        return segments

    def draft(self, samples: Samples, options: Options) -> list[Segment]:
        """Segments of one window without a second try; see `Backend.draft`."""
        length = len(samples) // SAMPLES_PER_MS
        self._heard.clear()
        cache = self._cache([samples], _frames_for(length))
        (found,) = self._first_try(cache, self._prompt(options), [Extent(length)], options)
        return self._segments(found, length, options)

    def detect_language(self, samples: Samples) -> tuple[str, float]:
        """The likeliest language and its probability; the encoder's pass is kept for `decode`."""
        self._heard.clear()
        cache = self._cache([samples], _frames_for(len(samples) // SAMPLES_PER_MS))
        with self._watch.stage("language"):
            start = np.array([[self._vocabulary.start]], np.int64)
            logits = self._runtime.step(start, cache).logits[:, list(self._vocabulary.languages.values())]
            best = int(logits[0].argmax())
            probability = float(np.exp(logits[0, best] - logsumexp(logits)[0]))
        return list(self._vocabulary.languages)[best], probability

    def phases(self) -> tuple[Phase, ...]:
        """mel, encode, cross, decode (a run a step), sample (what chooses the tokens), words.

        "fallback" is what is sampled again at a temperature; its passes of the graphs count where all others do.
        """
        return self._watch.phases()

    def reset_phases(self) -> None:
        """Begin a new timing table."""
        self._watch = self._steps.watch = Stopwatch()

    def operators(self) -> tuple[OperatorTime, ...]:
        """What the runtime measured; see `Backend.operators`."""
        return self._runtime.operators()

    def buffers(self) -> Mapping[str, int]:
        """Bytes of the weights, as they lie in the files."""
        return self._buffers

    def close(self) -> None:
        """The runtime frees its memory with its sessions."""

    def _prompt(self, options: Options) -> Prompt:
        before: tuple[int, ...] = ()
        if options.prompt:
            tokens = encoded(f" {options.prompt.strip()}", self._vocabulary.words)[-_PROMPT_TOKENS:]
            before = (self._vocabulary.previous, *tokens)
        return Prompt(before, self._vocabulary.prompt(options.language, options.task), options.words)

    def _cache(self, batch: Sequence[Samples], frames: int) -> Cache:
        """Cross keys and values of a batch, each window followed by silence up to `frames`."""
        encoded = [self._encoded(samples, frames) for samples in batch]
        with self._watch.stage("cross"):
            return self._runtime.cross(encoded)

    def _encoded(self, samples: Samples, frames: int) -> Any:  # noqa: ANN401
        """The encoder's output, window by window: a batch would be no faster, and a layer's memory times its size."""
        key = sha256(samples.tobytes()).digest(), frames
        if key not in self._heard:
            with self._watch.stage("mel"):
                mel = log_mel(samples, self._filters, frames)[None]
            with self._watch.stage("encode"):
                self._heard[key] = self._runtime.encode(mel)
        return self._heard[key]

    def _first_try(
        self, cache: Cache, prompt: Prompt, extents: Sequence[Extent], options: Options
    ) -> Sequence[Hypothesis]:
        with self._watch.stage("sample"):
            if options.beam == 1 or options.temperature > 0:
                return self._decoder.sample(cache, prompt, extents, options.temperature)
            return [
                self._decoder.beam(cache.take([row]), prompt, extent, options.beam)
                for row, extent in enumerate(extents)
            ]

    def _better(
        self, found: Hypothesis, samples: Samples, extent: Extent, frames: int, prompt: Prompt, options: Options
    ) -> Hypothesis:
        """`found`; or, where it is doubtful or fails, the best of more tries, until one is sound."""
        greedy = options.beam == 1 and options.temperature == 0
        if not self._fails(found) and not (greedy and self._doubtful(found)):
            return found
        tried = [found]
        with self._watch.stage("fallback"):
            for another in self._tries(samples, extent, frames, prompt, options):
                tried.append(another)
                if not all(map(self._fails, tried)):
                    break
        return max(tried, key=lambda h: (not self._fails(h), not h.loops, h.avg_logprob))

    def _tries(
        self, samples: Samples, extent: Extent, frames: int, prompt: Prompt, options: Options
    ) -> Iterator[Hypothesis]:
        """With beams, then with the full 30 s, then at rising temperatures."""
        cache = self._cache([samples], frames)
        if options.beam == 1:
            yield self._decoder.beam(cache, prompt, extent, _BEAMS)
        if frames < MAX_FRAMES:
            cache = self._cache([samples], MAX_FRAMES)
            yield from self._first_try(cache, prompt, [extent], options)
        for temperature in _TEMPERATURES:
            rows = cache.take([0] * _CANDIDATES)
            several = self._decoder.sample(rows, prompt, [extent] * _CANDIDATES, temperature)
            yield max(several, key=lambda h: (not self._fails(h), h.avg_logprob))

    def _fails(self, hypothesis: Hypothesis) -> bool:
        return failed(hypothesis, self._vocabulary.text(hypothesis.tokens))

    def _doubtful(self, hypothesis: Hypothesis) -> bool:
        """Whether its words, times aside, are unlikely on average."""
        pairs = zip(hypothesis.tokens, hypothesis.logprobs, strict=False)
        words = [logprob for token, logprob in pairs if token < self._vocabulary.end]
        return sum(words) < _DOUBTFUL * len(words)

    def _segments(self, hypothesis: Hypothesis, length: int, options: Options) -> list[Segment]:
        """Segments, with words and their times when those are asked for."""
        if is_silence(hypothesis):
            return []
        v = self._vocabulary
        with self._watch.stage("words"):
            bounds = _bounds(hypothesis, v.end, self._lags) if options.words else {}
        tokens = [
            (token, Token(v.words[token] if token < v.end else b"", *bounds.get(i, (0, 0)), float(np.exp(p)), p))
            for i, (token, p) in enumerate(zip(hypothesis.tokens, hypothesis.logprobs, strict=False))
        ]
        segments = segments_from_tokens(tokens, v.first_timestamp, v.end, length, options.language)
        return segments if options.words else [replace(segment, words=()) for segment in segments]  # they have no times


def _bounds(hypothesis: Hypothesis, end: int, lags: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Start and end of each text token, which are those below `end`, by its place among all tokens."""
    places = [place for place, token in enumerate(hypothesis.tokens) if token < end]
    if not places:
        return {}
    attention = np.stack([hypothesis.attention[place] for place in places], axis=1).astype(np.float32)
    times = token_onsets(attention, lags) if lags else token_starts(attention)
    return {place: (int(times[i]), int(times[i + 1])) for i, place in enumerate(places)}


def _frames_for(length: int) -> int:
    """Even frames for so many ms of audio and the silence behind it."""
    frames = -(-length * FRAMES_PER_SECOND // 1000) + _SILENCE_FRAMES
    return min(MAX_FRAMES, frames + frames % 2)
