"""`make bench`: our engine beside plain pywhispercpp and faster-whisper: speed, errors, memory. Takes 25 minutes.

Exits with 1 when something that it has to show (targets.py, bench_whispercpp.py) does not hold. A run over all
recordings writes its tables, pictures and raw figures to docs/bench/.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench_memory import memory_of_silence, memory_of_speech
from bench_whispercpp import whispercpp_holds
from engines import ON_CLIPS, ON_LONG, contestants
from figures import Measured
from machine import this_machine
from measure import measure
from plot import CLIPS, LONG, draw
from recordings import recordings
from report import Results, read_results, text, write_results

from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore

_SECTIONS = ("clips", "long", "memory", "whispercpp")
_CLIP_SECONDS = 30.0
_MOST_LOAD = 0.5
_DOCS = Path(__file__).resolve().parents[2] / "docs" / "bench"


def main() -> int:
    """Measure what is asked for, tell, and judge."""
    arguments = _arguments()
    data = data_folder()
    store = ModelStore(models_folder(data))
    ensure_starter(store)
    results = read_results(arguments.report) if arguments.report else _measured(arguments, data)
    if folder := arguments.output:
        write_results(results, folder)
        for measured, panels, name in ((results.clips, CLIPS, "clips.svg"), (results.long, LONG, "long.svg")):
            if measured:
                draw(measured, panels, folder / name)
    print(text(results))
    hold = all(target.holds for target in results.targets())
    if "whispercpp" in arguments.section and not arguments.report:
        print("\n## On whisper.cpp\n")
        hold = whispercpp_holds(data, store.path("base"), arguments.runs) and hold
    return 0 if hold else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--section", action="append", choices=_SECTIONS, help="only this one; may be given again")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    parser.add_argument("--memory", action="store_true", help="two hours of speech too; takes minutes")
    parser.add_argument("--backend", default="onnx", help="ours, in all sections but the last")
    parser.add_argument("--report", type=Path, metavar="RESULTS.JSON", help="measure nothing, tell of an earlier run")
    parser.add_argument("--output", type=Path, help="write there; docs/bench/ when nothing was left out")
    arguments = parser.parse_args()
    whole = not arguments.section and not arguments.only and not arguments.report
    arguments.output = arguments.output or (_DOCS if whole else None)
    arguments.section = arguments.section or list(_SECTIONS)
    return arguments


def _measured(arguments: argparse.Namespace, data: Path) -> Results:
    machine = this_machine()
    if machine.load > _MOST_LOAD:
        print(f"Somebody else is at work here (load {machine.load}): these times will not be worth much.")
    clips = _compared(arguments, data, ON_CLIPS, long=False) if "clips" in arguments.section else None
    long = _compared(arguments, data, ON_LONG, long=True) if "long" in arguments.section else None
    memory = dict[str, int]()
    if "memory" in arguments.section:
        memory["two hours of silence, then words"] = memory_of_silence(data, arguments.backend)
    if arguments.memory:
        memory["two hours of speech"] = memory_of_speech(data, arguments.backend)
    return Results(machine, arguments.runs, clips, long, memory)


def _compared(arguments: argparse.Namespace, data: Path, engines: Sequence[str], *, long: bool) -> Measured | None:
    """The clips or the long recordings by these engines; None when no file is left."""
    chosen = [
        recording
        for recording in recordings()
        if arguments.only in recording.path.name and (recording.seconds > _CLIP_SECONDS) == long
    ]
    if not chosen:
        return None
    print(f"\nseconds: {' | '.join(engines)}")
    with contestants(engines, data, arguments.backend) as running:
        return measure(running, chosen, arguments.runs)


if __name__ == "__main__":
    sys.exit(main())
