"""The console executable of the packaged program: Sottovoce's command line, and a Python for our own modules alone.

People type `sottovoce VERB …`; engine/program.py says `sottovoce -P -m MODULE …`, as it would to Python.
"""

from __future__ import annotations

import runpy
import sys

_OURS = ("app", "engine")


def main(words: list[str]) -> int:
    """Be the module that the words name, or the command line. The exit code."""
    if words[:2] == ["-P", "-m"] and len(words) > 2 and words[2].partition(".")[0] in _OURS:
        sys.argv = words[2:]
        runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        return 0
    from app.__main__ import main as command_line  # noqa: PLC0415 (a child does without it)

    return command_line(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
