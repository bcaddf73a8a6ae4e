"""What a bench measured, and what is made of it: medians, pooled speeds and errors, ratios with their spread,
differences with their bootstrap intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, median_low

import numpy as np
from score import Score

_RESAMPLES = 10_000
_SEED = 3


@dataclass(frozen=True, slots=True)
class File:
    """A recording without its path and text."""

    name: str
    language: str  # Whisper's code, or "auto"
    seconds: float
    speakers: int


@dataclass(frozen=True, slots=True)
class Runs:
    """One engine on one file: a value a run."""

    seconds: tuple[float, ...]
    errors: tuple[int, ...]
    units: int

    @property
    def time(self) -> float:
        """The median of its seconds."""
        return median(self.seconds)

    @property
    def score(self) -> Score:
        """The median of its errors (of an even number of runs the lower of the middle two)."""
        return Score(median_low(self.errors), self.units)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast: of the pooled medians, and the least and the most of single runs."""

    value: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Ours less theirs, with the interval that holds 95 % of the resampled sets of files."""

    value: float
    low: float
    high: float


Keep = Callable[[File], bool]


def everything(file: File) -> bool:
    """Keep all files."""
    return bool(file.name)


@dataclass(frozen=True, slots=True)
class Measured:
    """Some files through some engines; `runs` by engine, in the order of `files`, all with as many runs."""

    files: tuple[File, ...]
    runs: dict[str, tuple[Runs, ...]]
    peaks: dict[str, int]  # bytes, of the engine's whole process

    def seconds(self, engine: str) -> float:
        """The sum of the files' medians."""
        return sum(runs.time for runs in self.runs[engine])

    def speed(self, engine: str) -> float:
        """Times real time, pooled: all the sound by all the time."""
        return sum(file.seconds for file in self.files) / self.seconds(engine)

    def ratio(self, engine: str, other: str) -> Ratio:
        """How many times as fast as `other` the engine is on the same files."""
        passes = [theirs / mine for mine, theirs in zip(self._passes(engine), self._passes(other), strict=True)]
        return Ratio(self.seconds(other) / self.seconds(engine), min(passes), max(passes))

    def scores(self, engine: str, keep: Keep = everything) -> list[Score]:
        """The score of each file that is kept."""
        return [runs.score for file, runs in zip(self.files, self.runs[engine], strict=True) if keep(file)]

    def pooled(self, engine: str, keep: Keep = everything) -> Score:
        """All errors of the files that are kept, of all their units."""
        return sum(self.scores(engine, keep), Score())

    def _passes(self, engine: str) -> list[float]:
        """The seconds of each run over all files."""
        return [sum(one) for one in zip(*(runs.seconds for runs in self.runs[engine]), strict=True)]


def difference_in_errors(ours: list[Score], theirs: list[Score]) -> Difference:
    """How many errors more, with its paired bootstrap interval."""
    more, _, drawn = _resampled(ours, theirs)
    return _difference(float(more.sum()), more[drawn].sum(axis=1))


def difference_in_points(ours: list[Score], theirs: list[Score]) -> Difference:
    """How many points (errors in a hundred units) more, with its paired bootstrap interval."""
    more, units, drawn = _resampled(ours, theirs)
    return _difference(100 * more.sum() / units.sum(), 100 * more[drawn].sum(axis=1) / units[drawn].sum(axis=1))


def _resampled(ours: list[Score], theirs: list[Score]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The files' differences and units, and as many files again by chance, `_RESAMPLES` times.

    A file stays whole and both engines' scores of it stay together: that is what makes it paired.
    """
    more = np.array([mine.errors - other.errors for mine, other in zip(ours, theirs, strict=True)])
    units = np.array([mine.units for mine in ours])
    drawn = np.random.default_rng(_SEED).integers(0, len(more), (_RESAMPLES, len(more)))
    return more, units, drawn


def _difference(value: float, resampled: np.ndarray) -> Difference:
    low, high = np.percentile(resampled, (2.5, 97.5))
    return Difference(float(value), float(low), float(high))
