"""The engine's command line: `sottovoce VERB …`, `python -m engine VERB …`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine import models_cli, record_cli, selftest_cli, transcribe_cli
from engine.errors import EngineError
from engine.folders import data_folder
from engine.terminal import say
from engine.verbs import Verbs


class _Parser(argparse.ArgumentParser):
    """Takes options by their full names only, also for the verbs: a shortened one may mean another tomorrow."""

    def __init__(self, **described: Any) -> None:  # noqa: ANN401 (whatever argparse takes)
        super().__init__(**described, allow_abbrev=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. 0: done, 1: something failed, 2: wrong use."""
    _fill_closed_streams()
    arguments = _parser().parse_args(argv)
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="sottovoce", description="Private, offline transcription.")
    parser.add_argument("--data-dir", metavar="DIR", help="where models and transcripts are kept")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    transcribe_cli.add_parser(verbs)
    models_cli.add_models_parser(verbs)
    record_cli.add_parsers(verbs)
    selftest_cli.add_parser(verbs)
    _add_inner_verbs(verbs)
    return parser


def _add_inner_verbs(verbs: Verbs) -> None:
    """Verbs that the program says to itself."""
    worker = verbs.add_parser("worker")
    worker.set_defaults(run=_worker)
    record_cli.add_inner_parsers(verbs)
    probe = verbs.add_parser("gpu-probe")
    probe.add_argument("model", type=Path)
    probe.set_defaults(run=_gpu_probe)


def _worker(_arguments: argparse.Namespace, data: Path) -> int:
    from engine.worker import serve  # noqa: PLC0415 (each verb loads only what it needs)

    return serve(data)


def _gpu_probe(arguments: argparse.Namespace, _data: Path) -> int:
    from engine.backends.whispercpp import try_gpu  # noqa: PLC0415

    return 0 if try_gpu(arguments.model) else 1


if __name__ == "__main__":
    sys.exit(main())
