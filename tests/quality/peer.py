"""A child that transcribes with another program's Python API: a JSON line in, a JSON line out.

    peer.py whispercpp MODEL THREADS          pywhispercpp's Model, greedy
    peer.py faster-whisper MODEL THREADS …    int8, its own voice detection; --beam N, --batch N

Each is set up as its own documentation advises, with our reader's samples, so that only the engines differ.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.audio.media import open_media
from engine.memory import peak_memory

Transcribe = Callable[[np.ndarray[Any, Any], str], str]


def main() -> None:
    """Serve stdin until it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("whispercpp", "faster-whisper"))
    parser.add_argument("model")
    parser.add_argument("threads", type=int)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--batch", type=int, default=0)
    arguments = parser.parse_args()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whisper.cpp prints
    transcribe = _whispercpp(arguments) if arguments.kind == "whispercpp" else _faster_whisper(arguments)
    for line in sys.stdin:
        request = json.loads(line)
        with open_media(request["path"]) as media:
            samples = np.concatenate([block.samples for block in media.blocks()])
        began = time.monotonic()
        text = transcribe(samples, request["language"])
        seconds = time.monotonic() - began
        print(json.dumps({"text": text, "seconds": seconds, "peak": peak_memory()}), file=out, flush=True)


def _whispercpp(arguments: argparse.Namespace) -> Transcribe:
    from pywhispercpp.model import Model  # noqa: PLC0415

    model = Model(arguments.model, n_threads=arguments.threads, print_progress=False, print_realtime=False)

    def transcribe(samples: np.ndarray[Any, Any], language: str) -> str:
        return " ".join(segment.text for segment in model.transcribe(samples, language=language))

    return transcribe


def _faster_whisper(arguments: argparse.Namespace) -> Transcribe:
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # as its documentation says for comparisons
    from faster_whisper import BatchedInferencePipeline, WhisperModel  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    model = WhisperModel(arguments.model, device="cpu", compute_type="int8", cpu_threads=arguments.threads)
    options = {"beam_size": arguments.beam, "vad_filter": True}
    if arguments.batch:
        options["batch_size"] = arguments.batch
    run = BatchedInferencePipeline(model).transcribe if arguments.batch else model.transcribe

    def transcribe(samples: np.ndarray[Any, Any], language: str) -> str:
        several = language == "auto"  # then it looks for the language again in every window
        found, _ = run(samples, language=None if several else language, multilingual=several, **options)
        return " ".join(segment.text for segment in found)

    return transcribe


if __name__ == "__main__":
    main()
