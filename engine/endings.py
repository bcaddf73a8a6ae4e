"""How an engine process ended, as an error code and in plain words."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import Code


@dataclass(frozen=True, slots=True)
class Death:
    """The engine is gone although nobody asked it to. `detail` is for people who want to know more."""

    code: Code
    detail: str


def ending(exit_code: int, crashed: bool, last_lines: Sequence[str] = ()) -> Death:
    """What an end means. After a crash, `exit_code` is the signal's number (on Windows an NTSTATUS)."""
    code, words = _by_signal(exit_code) if crashed else (Code.ENGINE_DIED, f"It ended with code {exit_code}.")
    return Death(code, with_last_lines(words, last_lines))


def with_last_lines(words: str, last_lines: Sequence[str]) -> str:
    """`words`, and under them what the engine wrote last."""
    return "\n".join([words, *last_lines])


def _by_signal(number: int) -> tuple[Code, str]:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return Code.ENGINE_DIED, f"It crashed (0x{number & 0xFFFFFFFF:08X})."
    if name == "SIGKILL":
        return Code.ENGINE_DIED, "It was killed (SIGKILL), perhaps for lack of memory."
    if name == "SIGILL":
        return Code.CPU_TOO_OLD, "It was stopped by signal SIGILL: an instruction that this processor does not have."
    return Code.ENGINE_DIED, f"It was stopped by signal {name}."
