"""Recordings through several engines in turn, several times."""

from __future__ import annotations

import time
from collections.abc import Sequence

from engines import Contestant
from figures import File, Measured, Runs
from recordings import Recording
from runs import Result
from score import score

# OpenMP's and ONNX Runtime's threads spin for a while after their work; the next engine is to have its cores alone.
_PAUSE_SECONDS = 0.25


def measure(contestants: Sequence[Contestant], recordings: Sequence[Recording], runs: int) -> Measured:
    """Every file by every engine before the next file; then all files again. Who begins changes each time."""
    results = {(one.name, recording.path.name): list[Result]() for one in contestants for recording in recordings}
    for number in range(runs):
        for place, recording in enumerate(recordings):
            first = (number + place) % len(contestants)
            for one in (*contestants[first:], *contestants[:first]):
                time.sleep(_PAUSE_SECONDS)
                results[one.name, recording.path.name].append(one.run(recording))
            took = "".join(f"{results[one.name, recording.path.name][-1].seconds:8.2f}" for one in contestants)
            print(f"run {number + 1} of {runs}  {recording.path.name:<38}{took}", flush=True)
    by_engine = {
        one.name: tuple(_runs(recording, results[one.name, recording.path.name]) for recording in recordings)
        for one in contestants
    }
    peaks = {
        one.name: max(
            result.peak_memory for recording in recordings for result in results[one.name, recording.path.name]
        )
        for one in contestants
    }
    return Measured(tuple(_file(recording) for recording in recordings), by_engine, peaks)


def _file(recording: Recording) -> File:
    return File(recording.path.name, recording.language, recording.seconds, recording.speakers)


def _runs(recording: Recording, results: Sequence[Result]) -> Runs:
    scores = [score(result.text, recording.reference, recording.scored_as) for result in results]
    return Runs(
        tuple(round(result.seconds, 4) for result in results), tuple(one.errors for one in scores), scores[0].units
    )
