"""The start of Sottovoce: a verb goes to the engine's command line, anything else opens the window."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from app.display import has_display
from engine.errors import EngineError
from engine.folders import data_folder
from engine.verbs import VERBS
from engine.versions import version_lines

NO_DISPLAY = "There is no display here for a window. To transcribe in the terminal: sottovoce transcribe FILE"


def main(argv: Sequence[str] | None = None) -> int:
    """Run Sottovoce. 0: done, 1: something failed, 2: wrong use."""
    words = list(sys.argv[1:] if argv is None else argv)
    if _first_word(words) in VERBS:
        from engine.__main__ import main as engine_main  # noqa: PLC0415 (the window does without it)

        return engine_main(words)
    wish = _parser().parse_args(words)
    if wish.version:
        print("\n".join(version_lines()))
        return 0
    if not has_display():
        print(NO_DISPLAY, file=sys.stderr)
        return 1
    from app.window_start import open_window  # noqa: PLC0415 (Qt; the verbs do without it)

    try:
        data = data_folder(wish.data_dir)
    except EngineError as error:
        print(f"sottovoce: {error}", file=sys.stderr)
        return 1
    return open_window(data, tuple(map(_absolute, wish.files)))


def _first_word(words: Sequence[str]) -> str:
    """The first word behind `--data-dir DIR`, with which a verb may begin as well."""
    first, *rest = words or [""]
    if first == "--data-dir":
        return rest[1] if len(rest) > 1 else ""
    return rest[0] if first.startswith("--data-dir=") and rest else first


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sottovoce",
        usage="sottovoce [--data-dir DIR] [FILE ...]\n       sottovoce VERB ...",
        description="Private, offline transcription. Opens the window, with the files added.",
        epilog=f"Verbs for the terminal: {', '.join(sorted(VERBS - {'worker'}))}; “sottovoce VERB --help” says more.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="say what exactly runs: versions and commit")
    parser.add_argument("--data-dir", metavar="DIR", help="where models and transcripts are kept")
    parser.add_argument("files", nargs="*", metavar="FILE", help="recordings, videos, or folders of them")
    return parser


def _absolute(name: str) -> bytes:
    return os.path.abspath(os.fsencode(name))  # noqa: PTH100 (bytes: a name need not be text)


if __name__ == "__main__":
    sys.exit(main())
