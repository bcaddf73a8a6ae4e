"""Our engine on whisper.cpp beside plain pywhispercpp, on the same samples, warm, in turn: what the rest of it costs.

Holds when the long recording takes at most 1.25 times plain pywhispercpp's time, when its first text comes within
15 % of that time, and when two hours of silence take less than 700 MB.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

from bench_memory import CHAPTER, SILENCE
from engines import WARM_UP
from runs import Peer, ours

from engine.backends.cpu import physical_cores
from engine.child import EngineProcess
from engine.types import Options

_MOST_TIME = 1.25
_FIRST_TEXT = 0.15
_MOST_MEMORY = 700_000_000


def whispercpp_holds(data: Path, model: Path, runs: int) -> bool:
    """Print the figures and whether each holds."""
    engine = EngineProcess(data)
    plain = Peer("whispercpp", model, physical_cores())
    options = Options(backend="whispercpp", language="en", words=True)
    try:
        return all([_long(engine, plain, options, runs), _silence(engine, options)])
    finally:
        engine.close()
        plain.close()


def _long(engine: EngineProcess, plain: Peer, options: Options, runs: int) -> bool:
    """Time of the long recording, and when its first text comes, against plain pywhispercpp."""
    ours(engine, WARM_UP, options)  # loads the model; plain has loaded its own
    mine: list[float] = []
    first: list[float] = []
    theirs: list[float] = []
    for _ in range(runs):
        result = ours(engine, CHAPTER, options)
        assert result.first_segment_after is not None, result.error
        mine.append(result.seconds)
        first.append(result.first_segment_after)
        theirs.append(plain.transcribe(CHAPTER, "en").seconds)
    ratio, share = median(a / b for a, b in zip(mine, theirs, strict=True)), median(first) / median(theirs)
    print(f"{CHAPTER.name}, {runs} runs in turn, medians")
    print(f"  ours {median(mine):6.1f} s   plain pywhispercpp {median(theirs):6.1f} s")
    print(f"  ratio {ratio:.2f} (at most {_MOST_TIME})   {'holds' if ratio <= _MOST_TIME else 'NO'}")
    print(f"  first text after {share:.0%} (at most {_FIRST_TEXT:.0%})   {'holds' if share <= _FIRST_TEXT else 'NO'}")
    return ratio <= _MOST_TIME and share <= _FIRST_TEXT


def _silence(engine: EngineProcess, options: Options) -> bool:
    """Memory over two hours of silence with a sentence behind it."""
    result = ours(engine, SILENCE, options)
    holds = result.peak_memory < _MOST_MEMORY and (result.first_word or 0) >= 7_198_000
    print(f"{SILENCE.name}\n  {result.seconds:.1f} s, peak memory {result.peak_memory / 1e6:.0f} MB (below 700)")
    print(f"  its words begin at {(result.first_word or 0) / 1000:.1f} s: {result.text[:60]!r}")
    print(f"  {'holds' if holds else 'NO'}")
    return holds
