"""The figures of `make bench-live` and `make mic-errors` in docs/bench: raw in live.json, as tables in live.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import msgspec
from machine import Machine
from score import Score

_FOLDER = Path(__file__).resolve().parents[2] / "docs" / "bench"

_DELAYS = """# Live text through a microphone

Written by `make bench-live` and `make mic-errors`; do not edit. The raw figures are in [live.json](live.json).
Recordings are played into a microphone without a sound card; the real recorder writes them down, a real worker with
Whisper base follows.

## How late the words are

English clips of one speaker. Provisional words count from their end in the played file (forced alignment) to the first
text that shows them and in which they stay; the final text from the end of an utterance's last word, the pause that
ends it included. The player's start and the device's delay count against us. Median, what nine in ten stay below, and
how many there are. "Drafts" is how often provisional text came in a second of sound.

| | words found | provisional | final | at most | drafts | most behind | sound without text | load before |
|---|---:|---:|---:|---:|---:|---:|---:|---:|"""

_ERRORS = """
## What the way through the microphone costs

Errors (words, or characters in Japanese, Chinese and Korean) of the same recordings from the disk and through the
microphone. First and last words are missing when the disk has them and the microphone does not.

| | recordings | from the disk | through the microphone | difference | at most | first and last words missing |
|---|---:|---:|---:|---:|---:|---:|"""


@dataclass(slots=True)
class Delays:
    """Of one recording, or of several; in seconds unless it says otherwise."""

    provisional: list[float] = field(default_factory=list[float])
    final: list[float] = field(default_factory=list[float])
    found: int = 0
    words: int = 0
    unheard: int = 0  # ms of the recordings that were never settled
    behind: int = 0  # ms at most
    drafts: int = 0
    sound: float = 0.0

    def add(self, other: Delays) -> None:
        """Pool."""
        self.provisional += other.provisional
        self.final += other.final
        self.found += other.found
        self.words += other.words
        self.unheard += other.unheard
        self.behind = max(self.behind, other.behind)
        self.drafts += other.drafts
        self.sound += other.sound


@dataclass(frozen=True, slots=True)
class MicErrors:
    """Of all recordings, pooled."""

    machine: Machine
    files: int
    disk: Score
    microphone: Score
    missing: list[str]


@dataclass(frozen=True, slots=True)
class LiveDelays:
    """Of all clips, pooled; the limits are medians in seconds, None where the worker was slowed."""

    machine: Machine
    delays: Delays
    limits: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """The last runs, by what they are called."""

    delays: dict[str, LiveDelays] = field(default_factory=dict[str, LiveDelays])
    errors: dict[str, MicErrors] = field(default_factory=dict[str, MicErrors])


def keep(name: str, figures: LiveDelays | MicErrors, folder: Path = _FOLDER) -> None:
    """Put a run in place of the last one of its name."""
    raw = folder / "live.json"
    known = msgspec.json.decode(raw.read_bytes(), type=LiveFigures) if raw.exists() else LiveFigures()
    if isinstance(figures, LiveDelays):
        known.delays[name] = figures
    else:
        known.errors[name] = figures
    raw.write_bytes(msgspec.json.format(msgspec.json.encode(known), indent=1) + b"\n")
    (folder / "live.md").write_text("\n".join(_page(known)) + "\n", encoding="utf-8")


def in_short(seconds: list[float]) -> str:
    """Median and what nine in ten stay below."""
    if not seconds:
        return "-"
    nine = quantiles(seconds, n=10, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return f"{median(seconds):.2f} s, {nine:.2f} s ({len(seconds)})"


def _page(figures: LiveFigures) -> Iterator[str]:
    yield _DELAYS
    for name, run in sorted(figures.delays.items()):
        one = run.delays
        limits = " and ".join(f"{limit} s" for limit in run.limits or ()) or "-"
        cells = [f"{one.found} of {one.words}", in_short(one.provisional), in_short(one.final), limits]
        cells += [f"{one.drafts / one.sound:.1f}", f"{one.behind / 1000:.1f} s", f"{one.unheard} ms"]
        yield f"| {name} | {' | '.join(cells)} | {run.machine.load} |"
    yield _ERRORS
    for name, run in sorted(figures.errors.items()):
        scores = [f"{score.errors} of {score.units} = {score.rate:.1%}" for score in (run.disk, run.microphone)]
        more = f"{100 * (run.microphone.rate - run.disk.rate):+.2f} points"
        yield f"| {name} | {run.files} | {' | '.join(scores)} | {more} | +1.0 | {', '.join(run.missing) or 'none'} |"
    machines = [run.machine for run in (*figures.delays.values(), *figures.errors.values())]
    on = dict.fromkeys(f"{one.date}, {one.commit}: {one.processor}, {one.cores} cores" for one in machines)
    yield "\n" + "\n".join(on)
