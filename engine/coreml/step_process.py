"""A step in a child process: its arguments in, its figures or its error out, and an end for one that hangs or dies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from engine.backends.coreml_runtime import CoremlSystem
from engine.coreml.steps import Figures, Step, build, check, compile_package, prepare, prove
from engine.endings import ending
from engine.errors import Code, EngineError
from engine.graphs.coreml_encoder import CoremlOptions
from engine.pipe import take_stdout, watch_parent
from engine.program import engine_command

VERB = "coreml-step"  # by which the program starts itself

# How long a step may take, in seconds, before it counts as hung. Building large-v3 takes 12 s here and proving it two
# minutes; from others' reports, macOS took up to 560 s for large-v3-turbo, and 40 minutes before its pipelines.
LIMITS: dict[Step, float] = {
    Step.BUILD: 600,
    Step.PROVE: 1800,
    Step.COMPILE: 600,
    Step.PREPARE: 1800,
    Step.CHECK: 600,
}
_LAST_LINES = 3


class StepDiedError(EngineError):
    """The child was killed by a signal, or did not end in time."""


@dataclass(frozen=True, slots=True)
class Job:
    """A step to be done, as it goes to the child's standard input."""

    step: Step
    model: bytes  # as os.fsencode spells it
    folder: bytes
    options: CoremlOptions = field(default_factory=CoremlOptions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a child says in the end."""

    figures: Figures = field(default_factory=dict[str, float])
    code: Code | None = None  # of an error
    detail: str = ""


class StepProcess:
    """Runs steps, one at a time, each in a child."""

    def __init__(self, command: Sequence[str] = (), limits: dict[Step, float] | None = None) -> None:
        self._command = command or engine_command(VERB)
        self._limits = LIMITS | (limits or {})

    def run(self, job: Job) -> Figures:
        """The step's figures. EngineError as the step has it; StepDiedError when its process died or hung."""
        with subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            try:
                said, errors = _conversation(process, job, self._limits[job.step])
            finally:  # also when this process is told to stop
                process.kill()
        if process.returncode != 0:
            code, lines = process.returncode, errors.decode("utf-8", "replace").strip().splitlines()
            death = ending(abs(code), code < 0, lines[-_LAST_LINES:])
            raise (StepDiedError if code < 0 else EngineError)(death.code, death.detail)
        outcome = msgspec.json.decode(said, type=Outcome)
        if outcome.code is not None:
            raise EngineError(outcome.code, outcome.detail)
        return outcome.figures


def _conversation(process: subprocess.Popen[bytes], job: Job, limit: float) -> tuple[bytes, bytes]:
    """Give the child its job, and keep its standard input open as long as we live: its end would end the child."""
    assert process.stdin is not None
    stdin, process.stdin = process.stdin, None  # communicate would close it
    with stdin:
        try:
            stdin.write(msgspec.json.encode(job) + b"\n")
            stdin.flush()
        except BrokenPipeError:  # it is dead already; how, is seen below
            return process.communicate()
        try:
            return process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise StepDiedError(Code.ENGINE_HUNG, f"It did not end within {limit:g} s.") from None


def serve_step(system: CoremlSystem, stdin: BinaryIO) -> int:
    """The child's side: read a job, do it, say what came of it. 0, unless something unforeseen is raised."""
    out = take_stdout()
    job = msgspec.json.decode(stdin.readline(), type=Job)
    watch_parent(stdin, lambda _line: None)
    try:
        outcome = Outcome(done(job, system))
    except EngineError as error:
        outcome = Outcome(code=error.code, detail=error.detail)
    out.write(msgspec.json.encode(outcome))
    out.flush()
    sys.stderr.flush()
    os._exit(0)  # coremltools' own end would be waited for, and its thread holds stdin


def done(job: Job, system: CoremlSystem) -> Figures:
    """Do a step in this process. EngineError as the step has it."""
    model, folder = Path(os.fsdecode(job.model)), Path(os.fsdecode(job.folder))
    steps: dict[Step, Callable[[], Figures]] = {
        Step.BUILD: lambda: build(model, folder, job.options, system),
        Step.PROVE: lambda: prove(model, folder, system),
        Step.COMPILE: lambda: compile_package(folder, system),
        Step.PREPARE: lambda: prepare(model, folder, system),
        Step.CHECK: lambda: check(model, folder, system),
    }
    return steps[job.step]()
