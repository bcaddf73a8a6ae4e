"""What `make run` starts: the window, or where there is no display a transcription in the terminal.

The recording comes through the environment (FILE), as it was typed: neither make nor a shell has read it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from app.display import has_display


def main() -> None:
    """Become the program that fits: never returns, unless there is neither a display nor a file."""
    files = recording()
    if has_display():
        _become("app", *files)
    if not files:
        print("There is no display here for a window. To transcribe in the terminal: make run FILE=talk.mp3")
        return  # nothing failed: the set-up is done, and this is what to do next
    print("There is no display here for a window: transcribing in the terminal.", file=sys.stderr)
    _become("engine", "transcribe", *files)


def recording() -> list[str]:
    """FILE as an absolute path, so that it is neither a verb nor an option; relative to where make was started."""
    name = os.environ.get("FILE", "")
    if not name:
        return []
    beside_the_caller = Path(os.environ.get("STARTED_IN", ""), name)  # another folder than ours with make -C
    return [str((beside_the_caller if beside_the_caller.exists() else Path(name)).absolute())]


def _become(module: str, *arguments: str) -> None:
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *arguments])  # noqa: S606 - no shell is meant


if __name__ == "__main__":
    main()
