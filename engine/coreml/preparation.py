"""From a model to a ready encoder: one step after the other, each state on the disk before it begins.

A preparation that was killed goes on where it was; what was half written is made again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np

from engine.backends.coreml_runtime import CoremlSystem
from engine.coreml.records import (
    BUILDER,
    CoremlRecord,
    State,
    clear_older,
    coreml_folder,
    expected_of,
    package_of,
    read_record,
    working_on,
    write_record,
)
from engine.coreml.step_process import Job, StepDiedError
from engine.coreml.steps import Figures, Step
from engine.errors import Code, EngineError
from engine.graphs.coreml_encoder import CoremlOptions
from engine.models.disk import writing
from engine.models.ggml import GgmlModel, read_model
from engine.models.ggml_types import values_per_item

_QUANTISED = "It is written from a quantised model, which costs accuracy; the float16 file of the model is better."


class Steps(Protocol):
    """Who does a step."""

    def run(self, job: Job) -> Figures:
        """See `StepProcess.run`."""
        ...


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that goes into it."""

    model: Path
    digest: str  # its sha256
    options: CoremlOptions
    cache: Path
    system: CoremlSystem
    steps: Steps
    tell: Callable[[State, str], None] = lambda _state, _detail: None

    def run(self, prove: bool = True) -> tuple[Path, CoremlRecord]:
        """Go as far as this system lets: to READY on a Mac, to BUILT elsewhere, where `prove` may be left for later.

        EngineError MODEL_BUSY while another process works on it; whatever stops it is in the record too.
        """
        read = read_model(self.model)
        folder = coreml_folder(self.cache) / encoder_key(read, self.options)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with working_on(folder):
            clear_older(self.cache, self.digest)
            record = self._known(folder, read)
            try:
                return folder, self._through(folder, record, prove)
            except EngineError as error:
                self._failed(folder, error)
                raise

    def check(self, folder: Path) -> CoremlRecord:
        """Prove what is built, and on a Mac compare again what the ready encoder gives. EngineError as for `run`."""
        with working_on(folder):
            record = read_record(folder)
            if record is None or not (record.compiled or package_of(folder).is_dir()):
                raise EngineError(Code.BACKEND_MISSING, "There is no encoder yet: sottovoce coreml build")
            if record.compiled and (unsupported := self.system.unsupported()):
                raise EngineError(Code.BACKEND_MISSING, unsupported)
            try:
                if not record.compiled:
                    checked = self._built(folder, replace(record, proved=False), prove=True)
                else:
                    checked = self._now(folder, self._step(folder, record, State.CHECKING, Step.CHECK), State.READY)
                return write_record(folder, checked, State.OFF, record.reason) if record.state is State.OFF else checked
            except EngineError as error:
                self._failed(folder, error)
                raise

    def _known(self, folder: Path, model: GgmlModel) -> CoremlRecord:
        """The record so far, its deaths forgiven: the user asks."""
        old = read_record(folder)
        quantised = any(values_per_item(one.type) > 1 for name, one in model.tensors.items() if "encoder." in name)
        fresh = CoremlRecord((self.digest,), str(self.options), BUILDER, warning=_QUANTISED if quantised else "")
        if old is None:
            return fresh
        return replace(old, models=tuple(dict.fromkeys([*old.models, self.digest])), deaths=0)

    def _through(self, folder: Path, record: CoremlRecord, prove: bool) -> CoremlRecord:
        unsupported = self.system.unsupported()
        if not record.compiled:
            record = self._built(folder, record, prove or not unsupported)
        if unsupported:
            return record
        if not record.compiled:
            record = self._step(folder, record, State.COMPILING, Step.COMPILE)
            record = write_record(folder, replace(record, compiled=True), State.COMPILING)
        shutil.rmtree(package_of(folder), ignore_errors=True)  # as large as what was made of it
        record = replace(record, system=self.system.build())
        record = self._step(folder, record, State.PREPARING, Step.PREPARE)
        record = self._step(folder, record, State.CHECKING, Step.CHECK)
        return self._now(folder, record, State.READY)

    def _built(self, folder: Path, record: CoremlRecord, prove: bool) -> CoremlRecord:
        if not package_of(folder).is_dir() or record.state is State.FAILED:
            record = self._step(folder, replace(record, proved=False), State.BUILDING, Step.BUILD)
        if prove and not (record.proved and expected_of(folder).is_file()):
            record = replace(self._step(folder, record, State.BUILDING, Step.PROVE), proved=True)
        return write_record(folder, record, State.BUILT)

    def _step(self, folder: Path, record: CoremlRecord, state: State, step: Step) -> CoremlRecord:
        record = self._now(folder, record, state, step)
        job = Job(step, os.fsencode(self.model), os.fsencode(folder), self.options)
        return replace(record, figures=record.figures | self.steps.run(job))

    def _now(self, folder: Path, record: CoremlRecord, state: State, detail: str = "") -> CoremlRecord:
        self.tell(state, detail)
        return write_record(folder, record, state)

    def _failed(self, folder: Path, error: EngineError) -> None:
        """Keep the reason. What gave wrong numbers is made anew the next time, what hung or died is tried again."""
        record, reason = read_record(folder), str(error)
        if record is None:  # nothing could be written, not even that
            return
        if not isinstance(error, StepDiedError) and error.code is Code.BACKEND_FAILED:
            record = replace(record, proved=False, compiled=False)
        if error.code is Code.ENGINE_HUNG and record.state is State.PREPARING and self.options.parts == 1:
            reason = f"{reason} Several smaller programs may do: sottovoce coreml build --parts 4"
        with suppress(EngineError):  # as on a full disk; then the state is that of an interruption
            write_record(folder, record, State.FAILED, reason)


def encoder_key(model: GgmlModel, options: CoremlOptions) -> str:
    """What an encoder's folder is called: its tensors, this builder and the options; the decoder plays no part."""
    digest = sha256(f"{BUILDER} {options} {model.hyper.n_mels}".encode())
    for name in sorted(name for name in model.tensors if name.startswith("encoder.")):
        tensor = model.tensors[name]
        digest.update(f"{name} {tensor.type} {tensor.shape}".encode())
        digest.update(model.stored(name).reshape(-1).view(np.uint8).data)
        model.let_go(name)
    return f"{digest.hexdigest()[:20]}-{options}-{BUILDER}"
