"""Figures as lines for a terminal: the progress of a file, and the timing table of a run."""

from __future__ import annotations

from collections.abc import Sequence

from engine.protocol import Loaded, Progress
from engine.types import OperatorTime, Timings

_STAGES = {
    "opening": "opening",
    "building": "preparing the model (only once)",
    "loading": "loading the model",
    "listening": "listening",
    "transcribing": "transcribing",
}
_SHOWN_OPERATORS = 10


def clock(ms: int) -> str:
    """0:41, 12:03, 1:02:03."""
    seconds = ms // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def progress_words(progress: Progress, timings: Timings | None) -> str:
    """How far a file is, for the line behind its name."""
    parts = [_STAGES[progress.stage]]
    if progress.total:
        parts.append(f"{min(100, progress.done * 100 // progress.total)} %")
    elif progress.done:
        parts.append(clock(progress.done))
    if progress.left is not None:
        parts.append(f"about {clock(progress.left)} left")
    if timings and progress.stage == "transcribing":
        parts.append(f"{timings.speed:.1f} × real time")
    return "  ".join(parts)


def timing_table(timings: Timings, loaded: Loaded | None) -> str:
    """Where the time and the memory went, one line each."""
    lines = [f"{loaded.model} · {loaded.backend} · {loaded.device} ({loaded.reason})"] if loaded else []
    for phase in timings.phases:
        each = f"{phase.runs:>6} runs  {phase.ms / max(1, phase.runs):>9.1f} ms a run" if phase.runs > 1 else ""
        lines.append(f"  {phase.name:<12}{phase.ms:>9} ms  {each}".rstrip())
    lines.append(f"  {'total':<12}{timings.total:>9} ms  {timings.speed:.1f} × real time ({clock(timings.audio)})")
    lines += [f"  {name:<24}{size / 1e6:>9.1f} MB" for name, size in timings.buffers.items()]
    if timings.peak_memory:
        lines.append(f"  {'peak memory':<24}{timings.peak_memory / 1e6:>9.1f} MB")
    return "\n".join(lines)


def operator_table(times: Sequence[OperatorTime]) -> str:
    """The operators that took the longest, one line each, with their share of all that were measured."""
    if not times:
        return "no times of operators: only onnx and tract can tell"
    total = sum(time.ms for time in times) or 1.0
    longest = sorted(times, key=lambda time: -time.ms)[:_SHOWN_OPERATORS]
    lines = [
        f"  {time.graph:<9}{time.operator:<28}{time.ms:>10.1f} ms {100 * time.ms / total:>5.1f} %{time.runs:>8} runs"
        for time in longest
    ]
    return "\n".join([f"the {len(longest)} most expensive operators of {len(times)}", *lines])
