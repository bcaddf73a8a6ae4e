"""`make subtitles`: how well the cues of all recordings keep to the rules, and how close they begin to the speech.

Exits with 1 when fewer than 97 % of all cues keep every rule, a cue is shown for more than 7 s or less than 0.8 s, two
overlap, or cues begin more than 150 ms (median) from where ../shared/audio says that a segment begins.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

from recordings import Recording, recordings
from runs import ours

from engine.child import EngineProcess
from engine.exports.cues import Cue, cues
from engine.exports.rules import DEFAULT, PRESETS
from engine.folders import data_folder, models_folder
from engine.models.starter import ensure_starter
from engine.models.store import ModelStore
from engine.types import Options

_KEPT = 0.97
_FAR_MS = 150
_NEAR_MS = 1_500  # a cue and a segment that begin further apart are not the same sentence
_LONGEST_MS, _SHORTEST_MS = 7_000, 800


def main() -> int:
    """Print the warnings by kind and all that does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", default=DEFAULT, choices=PRESETS)
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--show", action="store_true", help="print every cue that breaks a rule")
    arguments = parser.parse_args()
    rules, data = PRESETS[arguments.preset], data_folder()
    ensure_starter(ModelStore(models_folder(data)))
    engine, every, distances = EngineProcess(data), list[list[Cue]](), list[int]()
    for recording in recordings():
        if arguments.only in recording.path.name:
            result = ours(engine, recording.path, Options(language=recording.language, backend="onnx", words=True))
            made = cues(result.segments, round(recording.seconds * 1000), rules)
            every.append(made)
            distances += _distances(recording, made)
            if arguments.show:
                _show(recording, made)
    engine.close()
    return _judge(every, distances)


def _judge(every: Sequence[Sequence[Cue]], distances: Sequence[int]) -> int:
    flat = [cue for made in every for cue in made]
    kinds = Counter(warning for cue in flat for warning in cue.warnings)
    kept = sum(not cue.warnings for cue in flat) / len(flat)
    shown = [cue.end - cue.start for cue in flat]
    overlaps = sum(before.end > after.start for made in every for before, after in pairwise(made))
    print(f"{len(flat)} cues, {kept:.1%} keep all rules; warnings: {dict(kinds.most_common())}")
    print(f"shown for {min(shown) / 1000:.2f} to {max(shown) / 1000:.2f} s; {overlaps} overlap")
    holds = kept >= _KEPT and min(shown) >= _SHORTEST_MS and max(shown) <= _LONGEST_MS and not overlaps
    if distances:
        far = median(map(abs, distances))
        print(
            f"from where the speech begins: {far:.0f} ms (median of {len(distances)}), signed {median(distances):+.0f}"
        )
        holds = holds and far <= _FAR_MS
    print("holds" if holds else "does NOT hold")
    return 0 if holds else 1


def _distances(recording: Recording, made: Sequence[Cue]) -> list[int]:
    """Of each segment that is known, how far the nearest cue begins after it."""
    file = recording.path.parent / "refs" / f"{recording.path.stem}.segments.tsv"
    starts = _starts(file) if file.exists() else []
    nearest = [min((cue.start - start for cue in made), key=abs, default=_NEAR_MS) for start in starts]
    return [distance for distance in nearest if abs(distance) < _NEAR_MS]


def _starts(file: Path) -> list[int]:
    with file.open(encoding="utf-8", newline="") as rows:
        return [round(float(row["start"]) * 1000) for row in csv.DictReader(rows, delimiter="\t")]


def _show(recording: Recording, made: Sequence[Cue]) -> None:
    for cue in made:
        if cue.warnings:
            what = f"{','.join(cue.warnings)}: {' | '.join(cue.lines)}"
            print(f"{recording.path.name[:30]:<31}{cue.start:>7}{cue.end - cue.start:>6}  {what}")


if __name__ == "__main__":
    sys.exit(main())
