"""`make word-times`: how far our word times are from forced alignment, and from words at known places.

Exits with 1 when the median error of the starts or of the ends, over all English recordings of one speaker, is above
80 ms, or when a word is not inside its segment.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

from forced_alignment import aligned, aligned_recording
from recordings import recordings
from runs import ours
from spliced import SENTENCES, VOICES, spliced, write_wav
from timed import Errors, errors_of, in_order, timed

from engine.child import EngineProcess
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.types import Options

_MOST_MS = 80
_KNOWN_SHARE = 0.5  # of a text's words; with fewer, what was aligned is not the recording's text


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="onnx")
    parser.add_argument("--model", default="base")
    arguments = parser.parse_args()
    data = data_folder()
    ensure_starter(ModelStore(models_folder(data)))
    engine = EngineProcess(data)
    options = Options(model=arguments.model, backend=arguments.backend, language="en", words=True)
    print(f"{arguments.model}, {arguments.backend}{'':<20}starts: {_HEAD}    ends: {_HEAD}")
    try:
        pooled, inside = _recorded(engine, options)
        _spliced(engine, options)
    finally:
        engine.close()
    close = all(_absolute(errors) <= _MOST_MS for errors in (pooled.starts, pooled.ends))
    print(f"median errors at most {_MOST_MS} ms: {'holds' if close else 'NO'}")
    print(f"every word inside its segment and in order: {'holds' if inside else 'NO'}")
    return 0 if close and inside else 1


def _recorded(engine: EngineProcess, options: Options) -> tuple[Errors, bool]:
    """Recordings against forced alignment; whether all words are inside their segments."""
    pooled, inside, left_out = Errors(), True, list[str]()
    for recording in recordings():
        if recording.language != "en" or recording.speakers > 1:
            continue
        ruler = aligned_recording(recording)
        known = sum(word.known for word in ruler)
        if known < _KNOWN_SHARE * len(ruler):
            left_out.append(recording.path.name)
            continue
        segments = ours(engine, recording.path, options).segments
        inside = inside and in_order(segments)
        errors = errors_of(timed(segments), ruler)
        _print(recording.path.name, errors, f"{len(ruler) - known} of {len(ruler)} words without a ruler")
        pooled.add(errors)
    _print("all recordings", pooled)
    print(f"left out, forced alignment fails: {', '.join(left_out) or 'none'}\n")
    return pooled, inside


def _spliced(engine: EngineProcess, options: Options) -> None:
    """Words at known places: how good the ruler is, and we."""
    ruler, mine = Errors(), Errors()
    with tempfile.TemporaryDirectory() as folder:
        for sentence in SENTENCES:
            for voice in VOICES:
                samples, truth = spliced(sentence, voice)
                ruler.add(errors_of(aligned(samples, sentence), truth))
                file = Path(folder, "spliced.wav")
                write_wav(file, samples)
                mine.add(errors_of(timed(ours(engine, file, options).segments), truth))
    _print("spliced words: pocketsphinx", ruler)
    _print("spliced words: ours", mine)


_HEAD = "words  median   90 %    bias"


def _print(name: str, errors: Errors, remark: str = "") -> None:
    columns = "            ".join(_figures(values) for values in (errors.starts, errors.ends))
    print(f"{name:<38}{columns}   {remark}", flush=True)


def _figures(values: Sequence[int]) -> str:
    if len(values) < 2:
        return f"{len(values):>5}{'':>23}"
    ninth = quantiles(map(abs, values), n=10)[-1]
    return f"{len(values):>5}{_absolute(values):>8.0f}{ninth:>7.0f}{median(values):>+8.0f}"


def _absolute(values: Sequence[int]) -> float:
    return median(map(abs, values)) if values else float("inf")


if __name__ == "__main__":
    sys.exit(main())
