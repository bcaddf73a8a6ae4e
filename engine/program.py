"""How the program starts itself anew as a child: with Python, or, packaged, with its console executable.

There is no Python in a packaged program; its console executable (packaging/console.py) reads the same words in its
place, `-P -m MODULE …`, for modules of ours. Nothing else in app/ or engine/ names an interpreter.
"""

from __future__ import annotations

import sys
from pathlib import Path

CONSOLE = "sottovoce"  # as packaging/app.spec calls the executable; it lies beside that of the window


def is_packaged() -> bool:
    """Whether this runs from one of PyInstaller's executables."""
    return bool(getattr(sys, "frozen", False))


def _program() -> str:
    if not is_packaged():
        return sys.executable
    own = Path(sys.executable)
    return str(own.with_name(CONSOLE + own.suffix))


PROGRAM = _program()


def run_module(name: str) -> tuple[str, ...]:
    """The arguments with which PROGRAM runs a module of ours; -P: it is not looked for in the working directory."""
    return ("-P", "-m", name)


def engine_command(*arguments: str) -> list[str]:
    """The command line of a verb of the engine."""
    return [PROGRAM, *run_module("engine"), *arguments]
