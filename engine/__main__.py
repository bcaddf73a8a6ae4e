"""The engine's command line: `sottovoce VERB …`, `python -m engine VERB …`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from engine import models_cli, selftest_cli, transcribe_cli
from engine.folders import data_folder
from engine.verbs import Verbs


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. 0: done, 1: something failed, 2: wrong use."""
    arguments = _parser().parse_args(argv)
    data = data_folder(arguments.data_dir)
    try:
        return int(arguments.run(arguments, data))
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has had enough
        sys.stderr.close()
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sottovoce", description="Private, offline transcription.")
    parser.add_argument("--data-dir", metavar="DIR", help="where models and transcripts are kept")
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    transcribe_cli.add_parser(verbs)
    models_cli.add_models_parser(verbs)
    selftest_cli.add_parser(verbs)
    _add_inner_verbs(verbs)
    return parser


def _add_inner_verbs(verbs: Verbs) -> None:
    """Verbs that the program says to itself."""
    worker = verbs.add_parser("worker")
    worker.set_defaults(run=_worker)
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
