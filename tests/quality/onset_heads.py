"""Finds the onset heads of a model: those whose attention peaks at a fixed moment of every word.

    .venv/bin/python tests/quality/onset_heads.py --model small

Runs the reference texts through the decoder, takes each head alone, and compares where it puts the words' beginnings
with forced alignment. The best go into engine/whisper/alignment_heads.py with their lag.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
from forced_alignment import aligned_recording, samples_of
from numpy.typing import NDArray
from recordings import Recording, recordings
from timed import words_of

from engine.backends.cpu import physical_cores
from engine.folders import data_folder, models_folder
from engine.graphs.cross_graph import write_cross
from engine.graphs.decoder_graph import write_decoder
from engine.graphs.encoder_graph import write_encoder
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.types import SAMPLES_PER_MS, WINDOW_MS
from engine.whisper.align import MS_PER_POSITION
from engine.whisper.alignment_heads import alignment_heads
from engine.whisper.bpe import encoded
from engine.whisper.mel import MAX_FRAMES, log_mel
from engine.whisper.onsets import token_onsets
from engine.whisper.vocabulary import Vocabulary

_SHOWN = 12


def main() -> None:
    """Print the best heads, the steadiest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="base")
    model = read_model(ModelStore(models_folder(data_folder())).resolve(parser.parse_args().model))
    hyper = model.hyper
    heads = [(layer, head) for layer in range(hyper.n_text_layer) for head in range(hyper.n_text_head)]
    errors: list[list[float]] = [[] for _ in heads]
    with tempfile.TemporaryDirectory() as folder:
        graphs = _graphs(model, Path(folder), heads)
        for recording in _short_ones():
            for place, found in enumerate(_errors(model, graphs, recording)):
                errors[place] += found
    lags = [median(found) for found in errors]
    steadiness = [median(abs(error - lag) for error in found) for found, lag in zip(errors, lags, strict=True)]
    print(
        f"{len(errors[0])} words; * is in use\nhead    looks so many ms (positions) behind the beginning, give or take"
    )
    for place in sorted(range(len(heads)), key=steadiness.__getitem__)[:_SHOWN]:
        layer, head = heads[place]
        used = "*" if heads[place] in alignment_heads(hyper) else " "
        behind = f"{lags[place]:>6.0f} ({lags[place] / MS_PER_POSITION:+.1f})"
        print(f"{layer:>2}.{head:<2}{used}{behind}{steadiness[place]:>8.0f}")


def _graphs(model: GgmlModel, folder: Path, heads: list[tuple[int, int]]) -> OnnxGraphs:
    """The graphs of a model with the attention of all its heads."""
    write_encoder(model, folder / "encoder.onnx", "fp32")
    write_cross(model, folder / "cross.onnx", "fp32")
    write_decoder(model, folder / "decoder.onnx", "fp32", heads)
    return OnnxGraphs(folder, physical_cores())


def _short_ones() -> Iterator[Recording]:
    """English recordings of one speaker that fit in a window, with a text whose words are simply words."""
    for recording in recordings():
        simple = len(recording.reference.split()) == len(words_of(recording.reference))
        if recording.scored_as == "en" and recording.speakers == 1 and recording.seconds < WINDOW_MS / 1000 and simple:
            yield recording


def _errors(model: GgmlModel, graphs: OnnxGraphs, recording: Recording) -> list[list[float]]:
    """For each head the signed errors of the words' beginnings, in ms."""
    vocabulary, samples = Vocabulary.of(model), samples_of(recording.path)
    words = [encoded(f" {word}", vocabulary.words) for word in recording.reference.split()]
    tokens = [token for word in words for token in word]
    prompt = (*vocabulary.prompt("en", "transcribe"), vocabulary.no_timestamps)
    cache = graphs.cross([graphs.encode(log_mel(samples, model.filters, MAX_FRAMES)[None])])
    alignment = graphs.step(np.array([[*prompt, *tokens]], np.int64), cache).alignment[0]
    positions = len(samples) // SAMPLES_PER_MS // MS_PER_POSITION
    predicting: NDArray[np.float32] = alignment[:, len(prompt) - 1 : -1, :positions]
    firsts = np.cumsum([0, *map(len, words)])[:-1]
    ruler = aligned_recording(recording)
    return [
        [float(onsets[at]) - word.start for at, word in zip(firsts, ruler, strict=True) if word.known]
        for onsets in (token_onsets(predicting[head : head + 1], [0]) for head in range(len(predicting)))
    ]


if __name__ == "__main__":
    main()
