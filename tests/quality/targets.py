"""What the bench has to show, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engines import BATCHED, BATCHED_GREEDY, FASTER, OURS, WHISPERCPP, WHISPERCPP_INT8
from figures import Difference, File, Keep, Measured, difference_in_errors, difference_in_points

ON_CLIPS = {WHISPERCPP: 4.0, WHISPERCPP_INT8: 4.0, FASTER: 3.3}  # at least so many times as fast
ON_LONG = {WHISPERCPP: 4.5, WHISPERCPP_INT8: 4.5, FASTER: 3.5, BATCHED: 1.5, BATCHED_GREEDY: 1.5}
_MORE_WORDS = 4
_MORE_POINTS = 1.0
_MORE_WORDS_A_FILE = 2
_MOST_MEMORY = 600_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """One promise: what was found, what was wanted."""

    what: str
    found: str
    wanted: str
    holds: bool


def is_english(file: File) -> bool:
    """Whether its errors count as English words: one speaker, who speaks it."""
    return file.language == "en" and file.speakers == 1


def is_other(file: File) -> bool:
    """Whether its errors count among all other languages: one speaker; characters for ja, zh and ko."""
    return file.language not in ("en", "auto") and file.speakers == 1


def clip_targets(clips: Measured) -> Iterator[Target]:
    """Speed on all clips; errors on those of one speaker, against the peer with the fewest."""
    yield from _speed_targets("clips", clips, ON_CLIPS)
    if any(is_english(file) for file in clips.files):
        better = _fewest_errors(clips, is_english)
        more = difference_in_errors(clips.scores(OURS, is_english), clips.scores(better, is_english))
        found = f"{_with_interval(more, '.0f')} words than {better}"
        yield Target("clips: errors, English", found, f"at most +{_MORE_WORDS} words", more.value <= _MORE_WORDS)
    if any(is_other(file) for file in clips.files):
        better = _fewest_errors(clips, is_other)
        more = difference_in_points(clips.scores(OURS, is_other), clips.scores(better, is_other))
        found = f"{_with_interval(more, '.1f')} points than {better}"
        wanted = f"at most +{_MORE_POINTS} points"
        yield Target("clips: errors, other languages", found, wanted, more.value <= _MORE_POINTS)


def long_targets(long: Measured) -> Iterator[Target]:
    """Speed on all long recordings; errors on each of them against faster-whisper, one window after the other."""
    yield from _speed_targets("long", long, ON_LONG)
    for file, mine, theirs in zip(long.files, long.scores(OURS), long.scores(FASTER), strict=True):
        allowed = max(_MORE_WORDS_A_FILE, mine.units * _MORE_POINTS / 100)
        more = mine.errors - theirs.errors
        found = f"{more:+d} words ({mine.errors} and {theirs.errors} of {mine.units})"
        yield Target(f"long: errors, {file.name}", found, f"at most +{allowed:g} words", more <= allowed)


def memory_targets(memory: dict[str, int]) -> Iterator[Target]:
    """Peak memory of our engine's process on each two-hour file."""
    for name, peak in memory.items():
        wanted = f"below {_MOST_MEMORY // 1_000_000} MB"
        yield Target(f"memory: {name}", f"{peak / 1e6:.0f} MB", wanted, 0 < peak < _MOST_MEMORY)


def _speed_targets(where: str, measured: Measured, wanted: dict[str, float]) -> Iterator[Target]:
    for other, least in wanted.items():
        ratio = measured.ratio(OURS, other)
        found = f"{ratio.value:.2f} × ({ratio.least:.2f} … {ratio.most:.2f} in single runs)"
        yield Target(f"{where}: speed, {other}", found, f"at least {least} ×", ratio.value >= least)


def _fewest_errors(measured: Measured, keep: Keep) -> str:
    peers = [name for name in measured.runs if name != OURS]
    return min(peers, key=lambda name: measured.pooled(name, keep).errors)


def _with_interval(more: Difference, form: str) -> str:
    return f"{more.value:+{form}} [{more.low:+{form}}, {more.high:+{form}}]"
