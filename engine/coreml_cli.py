"""`sottovoce coreml …`: the Neural Engine's encoder of a model: build, check, show, turn off and remove it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from engine.backends.coreml_runtime import SYSTEM
from engine.coreml.records import BUSY, CoremlRecord, State, Status, encoders, remove_encoders, status_of, turn_off
from engine.coreml.records import SENTENCES as STATES
from engine.errors import Code, EngineError
from engine.folders import cache_folder, models_folder
from engine.models.catalog import human_size
from engine.models.store import ModelStore, digest_of
from engine.report import clock
from engine.terminal import say
from engine.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its own verbs."""
    parser = verbs.add_parser("coreml", help="a model's encoder for the Neural Engine of Apple's processors")
    inner = parser.add_subparsers(metavar="build|check|status|off|remove", required=True)
    building = _add(inner, "build", _build, "write the encoder; on a Mac also compile, prepare and check it")
    building.add_argument("--fp32-norms", action="store_true", help="layer norms and softmax in float32: slower")
    building.add_argument("--int8", action="store_true", help="weights in 8 bits: half the size, a little less exact")
    building.add_argument("--parts", type=int, default=1, metavar="N", help="N smaller programs, for slow compilers")
    _add(inner, "check", _check, "evaluate the encoder and compare it with a plain one, on a Mac by the Neural Engine")
    _add(inner, "status", _status, "how far the encoder is, and why it is not used")
    _add(inner, "off", _off, "use no Neural Engine for this model until it is built again")
    _add(inner, "remove", _remove, "delete what was built")


def _add(inner: Verbs, name: str, run: Callable[[argparse.Namespace, Path], int], text: str) -> argparse.ArgumentParser:
    parser = inner.add_parser(name, help=text)
    parser.add_argument("model", metavar="MODEL", help="a model's name, or the path of a ggml file")
    parser.set_defaults(run=_run, coreml_verb=run)
    return parser


def _run(arguments: argparse.Namespace, data: Path) -> int:
    """Exit code 0 when it was done, 1 with one line that says why not."""
    try:
        return arguments.coreml_verb(arguments, data)
    except EngineError as error:
        say(f"sottovoce coreml: {error}")
        return 1


def _build(arguments: argparse.Namespace, data: Path) -> int:
    from engine.coreml.preparation import Preparation  # noqa: PLC0415 (each verb loads only what it needs)
    from engine.coreml.step_process import StepProcess  # noqa: PLC0415
    from engine.graphs.coreml_encoder import CoremlOptions  # noqa: PLC0415

    _need_coremltools()
    if arguments.parts < 1:
        raise EngineError(Code.BAD_COMMAND, "--parts is 1 or more.")
    options, system, began = CoremlOptions(arguments.fp32_norms, arguments.int8, arguments.parts), SYSTEM, _now()
    file, digest = _model(arguments, data)
    work = Preparation(file, digest, options, cache_folder(data), system, StepProcess(), _tell)
    _, record = work.run(prove=False)
    _report(record, _now() - began)
    if record.state is State.BUILT:
        print(f"{system.unsupported()} To check it here: sottovoce coreml check {arguments.model}")
    return 0


def _check(arguments: argparse.Namespace, data: Path) -> int:
    from engine.coreml.preparation import Preparation  # noqa: PLC0415
    from engine.coreml.step_process import StepProcess  # noqa: PLC0415
    from engine.graphs.coreml_encoder import CoremlOptions  # noqa: PLC0415

    _need_coremltools()
    file, digest = _model(arguments, data)
    cache, began = cache_folder(data), _now()
    found = encoders(cache, digest)
    if not found:
        raise EngineError(Code.BACKEND_MISSING, f"There is no encoder yet: sottovoce coreml build {arguments.model}")
    for folder, _ in found:
        work = Preparation(file, digest, CoremlOptions(), cache, SYSTEM, StepProcess(), _tell)
        _report(work.check(folder), _now() - began)
    return 0


def _status(arguments: argparse.Namespace, data: Path) -> int:
    system = SYSTEM
    _, digest = _model(arguments, data)
    status = status_of(cache_folder(data), digest, system.unsupported(), system.build())
    print(_said(status))
    if status.record is not None:
        _figures(status.record)
    return 0


def _off(arguments: argparse.Namespace, data: Path) -> int:
    _, digest = _model(arguments, data)
    if not turn_off(cache_folder(data), digest):
        raise EngineError(Code.BACKEND_MISSING, "There is no encoder to turn off.")
    print(f"{STATES[State.OFF]} To turn it on: sottovoce coreml build {arguments.model}")
    return 0


def _remove(arguments: argparse.Namespace, data: Path) -> int:
    _, digest = _model(arguments, data)
    print(f"{human_size(remove_encoders(cache_folder(data), digest))} were removed")
    return 0


def _model(arguments: argparse.Namespace, data: Path) -> tuple[Path, str]:
    file = ModelStore(models_folder(data)).resolve(arguments.model)
    return file, digest_of(file)


def _need_coremltools() -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("coremltools") is None:
        raise EngineError(Code.BACKEND_MISSING, "To install it, type: pip install 'coremltools>=9,<10'")


def _tell(state: State, detail: str) -> None:
    say(STATES[state] + (" It is compared with a plain one." if detail == "prove" else ""))


def _said(status: Status) -> str:
    """One line: the state, why, and how long a step has been running."""
    if status.state not in BUSY:
        return str(status)
    return f"{status} ({clock(time.time_ns() // 1_000_000 - status.since)} so far)"


def _report(record: CoremlRecord, seconds: float) -> None:
    print(f"{STATES[record.state]} That took {seconds:.1f} s.")
    _figures(record)


def _figures(record: CoremlRecord) -> None:
    if record.warning:
        print(record.warning)
    for name, value in record.figures.items():
        print(f"  {name:<18}{value:.6g}")


def _now() -> float:
    return time.monotonic()
