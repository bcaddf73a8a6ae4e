"""`make bench`: our engine beside plain pywhispercpp, on the same samples, warm, in turn; medians and ratios.

Exits with 1 when a run of the long recording takes more than 1.25 times plain pywhispercpp's time, when its first
text comes after more than 15 % of that time, or when two hours of silence take more than 700 MB.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median

from recordings import SHARED
from runs import Peer, ours

from engine.backends.cpu import physical_cores
from engine.child import EngineProcess
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.types import Options

_LONG = SHARED / "speech" / "en_long_LJ001_chapter.ogg"
_SILENCE = SHARED / "odd" / "long_2h_silence_then_words.flac"
_MOST_TIME = 1.25
_FIRST_TEXT = 0.15
_MOST_MEMORY = 700_000_000


def main() -> int:
    """Print the figures and whether each holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--backend", default="whispercpp")
    arguments = parser.parse_args()
    store = ModelStore(models_folder(data_folder()))
    ensure_starter(store)
    engine = EngineProcess(data_folder())
    plain = Peer("whispercpp", store.path("base"), physical_cores())
    options = Options(backend=arguments.backend, language="en", words=True)
    try:
        holds = [_long(engine, plain, options, arguments.runs), _silence(engine, options)]
    finally:
        engine.close()
        plain.close()
    return 0 if all(holds) else 1


def _long(engine: EngineProcess, plain: Peer, options: Options, runs: int) -> bool:
    """Time of the long recording, and when its first text comes, against plain pywhispercpp."""
    ours(engine, SHARED / "speech" / "en_cards_005.wav", options)  # loads the model; plain has loaded its own
    mine: list[float] = []
    first: list[float] = []
    theirs: list[float] = []
    for _ in range(runs):
        result = ours(engine, _LONG, options)
        assert result.first_segment_after is not None, result.error
        mine.append(result.seconds)
        first.append(result.first_segment_after)
        theirs.append(plain.transcribe(_LONG, "en").seconds)
    ratio, share = median(a / b for a, b in zip(mine, theirs, strict=True)), median(first) / median(theirs)
    print(f"{_LONG.name}, {runs} runs in turn, medians")
    print(f"  ours {median(mine):6.1f} s   plain pywhispercpp {median(theirs):6.1f} s")
    print(f"  ratio {ratio:.2f} (at most {_MOST_TIME})   {'holds' if ratio <= _MOST_TIME else 'NO'}")
    print(f"  first text after {share:.0%} (at most {_FIRST_TEXT:.0%})   {'holds' if share <= _FIRST_TEXT else 'NO'}")
    return ratio <= _MOST_TIME and share <= _FIRST_TEXT


def _silence(engine: EngineProcess, options: Options) -> bool:
    """Memory over two hours of silence with a sentence behind it."""
    result = ours(engine, _SILENCE, options)
    print(f"{_SILENCE.name}\n  {result.seconds:.1f} s, peak memory {result.peak_memory / 1e6:.0f} MB (below 700)")
    print(f"  its words begin at {(result.first_word or 0) / 1000:.1f} s: {result.text[:60]!r}")
    return result.peak_memory < _MOST_MEMORY and (result.first_word or 0) >= 7_198_000


if __name__ == "__main__":
    sys.exit(main())
