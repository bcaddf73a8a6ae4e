"""Our own engine over any runtime that runs its graphs: encoder, cross and decoder, only as long as the audio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from engine.whisper.decode import Cache, Decoder, Floats, Graphs, Hypothesis, Prompt, Step, is_silence, likeliest
from engine.whisper.ladder import Ladder
from engine.whisper.mel import FRAMES_PER_SECOND, MAX_FRAMES, log_mel
from engine.whisper.onsets import token_onsets
from engine.whisper.rules import Extent
from engine.whisper.segments import segments_from_tokens
from engine.whisper.vocabulary import Vocabulary
from engine.whisper.words import Token

if TYPE_CHECKING:
    from engine.types import Samples

# Silence that the encoder hears behind the audio. With 1 or 2 s the decoder falls into loops on some recordings,
# with 5 s it did on none; what still loops is decoded again with all 30 s.
_SILENCE_FRAMES = 5 * FRAMES_PER_SECOND
_PROMPT_TOKENS = 223  # half of the text context less one, as in openai/whisper


class Runtime(Graphs, Protocol):
    """All graphs of a model in a runtime; what the encoder gives stays in a form of its own."""

    cross_bytes: int  # that a number of the cross keys and values takes

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
        self.most = 0  # tokens in a cache, of all its rows

    def step(self, tokens: NDArray[np.int64], cache: Cache) -> Step:
        """See `Graphs.step`."""
        with self.watch.stage("decode"):
            step = self._graphs.step(tokens, cache)
        self.most = max(self.most, cache.rows * cache.length)
        return step


class GraphWhisper:
    """A model whose graphs a runtime runs; see `engine.backends.base.Backend`."""

    gpu = False

    def __init__(
        self, name: str, device: str, batch: int, runtime: Runtime, model: GgmlModel, folder: Path, frames: int = 2
    ) -> None:
        """`runtime` has loaded the graphs in `folder`, which were built from `model`; it encodes `frames` or more."""
        self.name = name
        self.device = device
        self.batch = batch
        self._vocabulary = Vocabulary.of(model)
        self._filters = model.filters.copy()
        self._lags = onset_lags(model.hyper)
        self._runtime = runtime
        self._least_frames = frames
        self._steps = _TimedSteps(runtime)
        self._ladder = Ladder(Decoder(self._steps, self._vocabulary), self._vocabulary)
        self._watch = self._steps.watch
        self._heard: dict[tuple[bytes, int], Any] = {}  # what the encoder made of the windows at hand
        self._numbers = 2 * model.hyper.n_text_layer * model.hyper.n_text_state  # keys and values a position
        self._positions = 0  # the most there were in a cache, of all its rows
        self._buffers = {"weights": sum(file.stat().st_size for file in folder.glob("*.weights"))}
        self.can_switch = self.multilingual = self._vocabulary.multilingual

    def decode(self, batch: Sequence[Samples], options: Options, speech: Sequence[int] = ()) -> list[list[Segment]]:
        """Segments of each window; see `Backend.decode`."""
        extents = [
            Extent(len(samples) // SAMPLES_PER_MS, end)
            for samples, end in zip(batch, speech or [0] * len(batch), strict=True)
        ]
        segments: dict[int, list[Segment]] = {}
        for frames, together in _by_frames([self._frames_for(extent.length) for extent in extents]).items():
            found = self._decoded([batch[i] for i in together], [extents[i] for i in together], frames, options)
            segments.update(zip(together, found, strict=True))
        self._heard.clear()
        return [segments[i] for i in range(len(batch))]

    def _decoded(
        self, batch: Sequence[Samples], extents: Sequence[Extent], frames: int, options: Options
    ) -> list[list[Segment]]:
        """Segments of windows that are encoded with the same number of frames."""
        prompt = self._prompt(options)
        cache = self._cache(batch, frames)
        with self._watch.stage("sample"):
            found = self._ladder.first_try(cache, prompt, extents, options)
        del cache
        return [
            self._segments(self._better(hypothesis, samples, extent, frames, options), extent.length, options)
            for hypothesis, samples, extent in zip(found, batch, extents, strict=True)
        ]

    def _better(self, found: Hypothesis, samples: Samples, extent: Extent, frames: int, options: Options) -> Hypothesis:
        if self._ladder.will_do(found, options):
            return found
        prompt = self._prompt(options)
        with self._watch.stage("fallback"):
            return self._ladder.better(
                found, extent, frames, prompt, options, lambda frames: self._cache([samples], frames)
            )

    def draft(self, samples: Samples, options: Options) -> list[Segment]:
        """Segments of one window without a second try; see `Backend.draft`."""
        length = len(samples) // SAMPLES_PER_MS
        self._heard.clear()
        cache = self._cache([samples], self._frames_for(length))
        with self._watch.stage("sample"):
            (found,) = self._ladder.first_try(cache, self._prompt(options), [Extent(length)], options)
        return self._segments(found, length, options)

    def detect_language(self, samples: Samples) -> tuple[str, float]:
        """The likeliest language and its probability; the encoder's pass is kept for `decode`."""
        self._heard.clear()
        cache = self._cache([samples], self._frames_for(len(samples) // SAMPLES_PER_MS))
        with self._watch.stage("language"):
            start = np.array([[self._vocabulary.start]], np.int64)
            logits = self._runtime.step(start, cache).logits[:, list(self._vocabulary.languages.values())]
            best, probability = likeliest(logits)
        return list(self._vocabulary.languages)[int(best[0])], float(probability[0])

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
        """Bytes of the weights, as they lie in the files, and of the largest caches so far."""
        cross = self._positions * self._numbers * self._runtime.cross_bytes
        return {**self._buffers, "cross KV": cross, "self KV": 4 * self._steps.most * self._numbers}

    def close(self) -> None:
        """The runtime frees its memory with its sessions."""

    def _prompt(self, options: Options) -> Prompt:
        before: tuple[int, ...] = ()
        if options.prompt:
            tokens = encoded(f" {options.prompt.strip()}", self._vocabulary.words)[-_PROMPT_TOKENS:]
            before = (self._vocabulary.previous, *tokens)
        start = self._vocabulary.prompt(options.language, options.task)
        return Prompt(before, start, options.words, options.may_switch)

    def _cache(self, batch: Sequence[Samples], frames: int) -> Cache:
        """Cross keys and values of a batch, each window followed by silence up to `frames`."""
        encoded = [self._encoded(samples, frames) for samples in batch]
        self._positions = max(self._positions, len(batch) * frames // 2)
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

    def _frames_for(self, length: int) -> int:
        """Even frames for so many ms of audio and the silence behind it."""
        frames = -(-length * FRAMES_PER_SECOND // 1000) + _SILENCE_FRAMES
        return min(MAX_FRAMES, max(self._least_frames, frames + frames % 2))

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
        language = v.language(hypothesis.language) or options.language
        segments = segments_from_tokens(tokens, v.first_timestamp, v.end, length, language)
        return segments if options.words else [replace(segment, words=()) for segment in segments]  # they have no times


def _bounds(hypothesis: Hypothesis, end: int, lags: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Start and end of each text token, which are those below `end`, by its place among all tokens."""
    places = [place for place, token in enumerate(hypothesis.tokens) if token < end]
    if not places:
        return {}
    attention = np.stack([hypothesis.attention[place] for place in places], axis=1).astype(np.float32)
    times = token_onsets(attention, lags) if lags else token_starts(attention)
    return {place: (int(times[i]), int(times[i + 1])) for i, place in enumerate(places)}


def _by_frames(frames: Sequence[int]) -> dict[int, list[int]]:
    """Which windows go together, by their frames: what is said in one must not depend on how long the others are."""
    groups: dict[int, list[int]] = {}
    for i, count in enumerate(frames):
        groups.setdefault(count, []).append(i)
    return groups
