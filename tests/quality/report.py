"""The bench's results as a file of raw figures, as tables in Markdown, and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from engines import OURS, SETTINGS
from figures import File, Measured
from machine import Machine
from score import Score
from targets import Target, clip_targets, is_english, is_other, long_targets, memory_targets

_HOW = """
## How it was measured

- Whisper base, the same weights for all, {cores} threads each; each engine in a process of its own, with its model
  loaded and one clip done.
- {runs} runs in turn: every file by every engine, then the next file; then all again. A file's time is the median of
  its runs; × real time is all the sound by the sum of those.
- The language is given, but for the recording in several.
- The time of Sottovoce is from the file to its last event. The others get samples that its reader has decoded before
  their time begins; their peak memory has those samples in it."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured; what was left out is None or empty."""

    machine: Machine
    runs: int
    clips: Measured | None
    long: Measured | None
    memory: dict[str, int]  # bytes by what was heard

    def targets(self) -> list[Target]:
        """What it has to show, as far as it was measured."""
        clips = list(clip_targets(self.clips)) if self.clips else []
        long = list(long_targets(self.long)) if self.long else []
        return [*clips, *long, *memory_targets(self.memory)]


def read_results(path: Path) -> Results:
    """The raw figures of an earlier run."""
    return msgspec.json.decode(path.read_bytes(), type=Results)


def write_results(results: Results, folder: Path) -> None:
    """Raw figures and tables; the pictures are plot.py's."""
    folder.mkdir(parents=True, exist_ok=True)
    raw = msgspec.json.format(msgspec.json.encode(results), indent=1)
    (folder / "results.json").write_bytes(raw + b"\n")
    (folder / "README.md").write_text("\n".join(_page(results)) + "\n", encoding="utf-8")


def text(results: Results) -> str:
    """The tables and targets for the terminal."""
    parts = [*_clips(results.clips), *_long(results.long), *_targets(results)]
    return "\n".join(parts)


def _page(results: Results) -> Iterator[str]:
    yield "# Speed, errors and memory beside other engines"
    yield ""
    yield "Written by `make bench`; do not edit. `make bench ARGS=--memory` measures two hours of speech as well."
    yield "The raw figures of every run are in [results.json](results.json)."
    for name, measured in (("clips", results.clips), ("long", results.long)):
        if measured:
            yield f"\n![Speed against errors, {name}]({name}.svg)"
    yield from _clips(results.clips)
    yield from _long(results.long)
    yield from _targets(results)
    yield from _how(results)


def _clips(clips: Measured | None) -> Iterator[str]:
    if clips is None:
        return
    yield f"\n## Clips up to 30 s: {len(clips.files)} files, {_sound(clips)}\n"
    yield "| | × real time | Sottovoce is faster by (single runs) | errors, English | errors, other | peak memory |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name in clips.runs:
        english, other = clips.pooled(name, is_english), clips.pooled(name, is_other)
        yield f"{_speed_cells(clips, name)} | {_errors(english)} | {_errors(other)} | {_megabytes(clips, name)} |"
    yield ""
    yield "Speed is of all these clips. Errors are pooled over those of one speaker: words, or characters in Japanese,"
    yield "Chinese and Korean.\n"
    yield from _by_language(clips)


def _by_language(clips: Measured) -> Iterator[str]:
    yield from _head(["language", "clips", "units"], list(clips.runs))
    groups = dict.fromkeys(_group(file) for file in clips.files)
    for group in groups:

        def in_group(file: File, group: str = group) -> bool:
            return _group(file) == group

        scores = {name: clips.pooled(name, in_group) for name in clips.runs}
        count = sum(in_group(file) for file in clips.files)
        cells = " | ".join(f"{one.errors} = {one.rate:.1%}" for one in scores.values())
        yield f"| {group} | {count} | {scores[OURS].units} | {cells} |"


def _long(long: Measured | None) -> Iterator[str]:
    if long is None:
        return
    yield f"\n## Long recordings: {len(long.files)} files, {_sound(long)}\n"
    yield "| | × real time | Sottovoce is faster by (single runs) | errors | peak memory |"
    yield "|---|---:|---:|---:|---:|"
    for name in long.runs:
        yield f"{_speed_cells(long, name)} | {_errors(long.pooled(name))} | {_megabytes(long, name)} |"
    yield "\nSeconds (median) and errors of each:\n"
    yield from _head(["file", "sound", "words"], list(long.runs))
    for place, file in enumerate(long.files):
        runs = [by_file[place] for by_file in long.runs.values()]
        cells = " | ".join(f"{one.time:.2f} s, {one.score.errors} = {one.score.rate:.1%}" for one in runs)
        yield f"| {file.name} | {file.seconds:.0f} s | {runs[0].units} | {cells} |"


def _targets(results: Results) -> Iterator[str]:
    targets = results.targets()
    if not targets:
        return
    yield "\n## Targets\n"
    if results.clips:
        yield "Brackets hold 95 % of 10,000 sets of files drawn by chance from the same clips (paired bootstrap).\n"
    yield "| | found | wanted | |"
    yield "|---|---|---|---|"
    for target in targets:
        yield f"| {target.what} | {target.found} | {target.wanted} | {'holds' if target.holds else '**NO**'} |"


def _how(results: Results) -> Iterator[str]:
    machine = results.machine
    yield _HOW.format(cores=machine.cores, runs=results.runs)
    yield from (f"- {name}: {setting}" for name, setting in SETTINGS.items())
    yield "\n| | |"
    yield "|---|---|"
    yield f"| date, commit | {machine.date}, {machine.commit} |"
    yield f"| processor | {machine.processor}, {machine.cores} cores used, {machine.system} |"
    yield f"| it has | {', '.join(machine.flags)} |"
    yield f"| it lacks | {', '.join(machine.missing)} |"
    yield f"| load of the machine before | {machine.load} |"
    yield f"| versions | {', '.join(f'{name} {number}' for name, number in machine.versions.items())} |"


def _speed_cells(measured: Measured, name: str) -> str:
    ratio = measured.ratio(OURS, name)
    faster = "" if name == OURS else f"{ratio.value:.2f} × ({ratio.least:.2f} … {ratio.most:.2f})"
    return f"| {name} | {measured.speed(name):.1f} | {faster}"


def _errors(score: Score) -> str:
    return f"{score.errors} of {score.units} = {score.rate:.1%}"


def _megabytes(measured: Measured, name: str) -> str:
    return f"{measured.peaks[name] / 1e6:.0f} MB"


def _head(first: list[str], engines: list[str]) -> Iterator[str]:
    yield f"| {' | '.join([*first, *engines])} |"
    yield f"|---|{'---:|' * (len(first) - 1 + len(engines))}"


def _group(file: File) -> str:
    return file.language if file.speakers == 1 else f"{file.language}, several voices (not pooled)"


def _sound(measured: Measured) -> str:
    return f"{sum(file.seconds for file in measured.files):.0f} s"
