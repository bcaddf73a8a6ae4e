"""Verbs that the program says to itself, to start its children; these load nothing that another verb needs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from engine.verbs import Verbs

INNER_VERBS = frozenset({"worker", "recorder", "microphone", "microphones", "gpu-probe", "coreml-step"})


def add_parsers(verbs: Verbs) -> None:
    """Describe the verbs and their options."""
    worker = verbs.add_parser("worker")
    worker.set_defaults(run=_worker)
    recorder = verbs.add_parser("recorder")
    add_microphone(recorder)
    recorder.add_argument("--part-bytes", type=int, help=argparse.SUPPRESS)
    recorder.set_defaults(run=_recorder)
    microphone = verbs.add_parser("microphone")
    add_microphone(microphone)
    microphone.set_defaults(run=_microphone)
    microphones = verbs.add_parser("microphones")
    microphones.set_defaults(run=_microphones)
    probe = verbs.add_parser("gpu-probe")
    probe.add_argument("model", type=Path)
    probe.set_defaults(run=_gpu_probe)
    step = verbs.add_parser("coreml-step")
    step.set_defaults(run=_coreml_step)


def add_microphone(parser: argparse.ArgumentParser) -> None:
    """Which microphone, and what of it."""
    parser.add_argument("--device", metavar="NAME", help="the microphone, as in `sottovoce devices`, or a part of it")
    parser.add_argument("--channel", type=_channel, metavar="N", help="only this channel of it, counted from 1")


def _channel(text: str) -> int:
    channel = int(text)
    if not 1 <= channel <= 64:
        raise argparse.ArgumentTypeError("must be 1 to 64")
    return channel


def _worker(_arguments: argparse.Namespace, data: Path) -> NoReturn:
    from engine.worker import serve  # noqa: PLC0415 (each verb loads only what it needs)

    serve(data)


def _recorder(arguments: argparse.Namespace, data: Path) -> NoReturn:
    from engine.recorder import serve  # noqa: PLC0415

    serve(data, arguments.device, arguments.channel, arguments.part_bytes)


def _microphone(arguments: argparse.Namespace, _data: Path) -> NoReturn:
    from engine.audio.microphone import serve  # noqa: PLC0415

    serve(arguments.device, arguments.channel)


def _microphones(_arguments: argparse.Namespace, _data: Path) -> NoReturn:
    from engine.audio.microphone import tell_devices  # noqa: PLC0415

    tell_devices()


def _gpu_probe(arguments: argparse.Namespace, _data: Path) -> int:
    from engine.backends.whispercpp import try_gpu  # noqa: PLC0415

    return 0 if try_gpu(arguments.model) else 1


def _coreml_step(_arguments: argparse.Namespace, _data: Path) -> int:
    from engine.backends.coreml_runtime import SYSTEM  # noqa: PLC0415
    from engine.coreml.step_process import serve_step  # noqa: PLC0415

    return serve_step(SYSTEM, open(0, "rb", buffering=0, closefd=False))
