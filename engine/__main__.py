"""The engine's command line: `sottovoce VERB …`, `python -m engine VERB …`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from engine import inner_cli
from engine.errors import EngineError
from engine.folders import data_folder
from engine.terminal import say


class _Parser(argparse.ArgumentParser):
    """Takes options by their full names only, also for the verbs: a shortened one may mean another tomorrow."""

    def __init__(self, **described: Any) -> None:  # noqa: ANN401 (whatever argparse takes)
        super().__init__(**described, allow_abbrev=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. 0: done, 1: something failed, 2: wrong use."""
    _fill_closed_streams()
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser(words).parse_args(words)
    try:
        code = int(arguments.run(arguments, data_folder(arguments.data_dir)))
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("\nstopped")
        return 130
    except EngineError as error:
        say(f"sottovoce: {error}")
        return 1
    except BrokenPipeError:  # whoever read our output has had enough
        _drop_stdout()
        return 1
    except OSError as error:  # what a verb may print on: a full disk, a closed standard output
        say(f"sottovoce: {error.strerror or error}")
        _drop_stdout()
        return 1
    return code


def _fill_closed_streams() -> None:
    """Let no file that is opened later become standard output; what is written to a closed one fails, as it should."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)  # takes the lowest free number
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] (closed from the start)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _drop_stdout() -> None:
    """What could not be written is not tried again when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(prog="sottovoce", description="Private, offline transcription.")
    parser.add_argument("--data-dir", metavar="DIR", help="where models and transcripts are kept")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    if not words or words[0] not in inner_cli.INNER_VERBS:  # somebody waits for a microphone to open: no more than it
        from engine import coreml_cli, export_cli, models_cli, record_cli, selftest_cli, transcribe_cli  # noqa: PLC0415

        transcribe_cli.add_parser(verbs)
        export_cli.add_parser(verbs)
        models_cli.add_models_parser(verbs)
        record_cli.add_parsers(verbs)
        selftest_cli.add_parser(verbs)
        coreml_cli.add_parser(verbs)
    inner_cli.add_parsers(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
