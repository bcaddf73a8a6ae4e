"""A Core ML program as a package on the disk: one program, or several in a row, with weights of 16 or 8 bits."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.graphs.coreml_encoder import CoremlOptions, block_ranges, encoder_program
from engine.models.disk import writing
from engine.models.ggml import GgmlModel

if TYPE_CHECKING:
    from coremltools.converters.mil.mil import Program
    from coremltools.models import MLModel

PACKAGE = ".mlpackage"
_UNFINISHED = ".building-"


def write_package(model: GgmlModel, options: CoremlOptions, path: Path) -> None:
    """Write the encoder of `model` as `path` ("….mlpackage"), which appears whole.

    EngineError MODEL_DAMAGED, DISK_FULL, NOT_WRITABLE.
    """
    logging.getLogger("coremltools").setLevel(logging.ERROR)  # it warns that it cannot predict here
    os.environ.setdefault("TQDM_DISABLE", "1")  # it draws bars
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{_UNFINISHED}*"):  # by one that was killed: who builds, has a lock on the folder
            shutil.rmtree(left, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=path.parent))
    try:
        package = unfinished / f"encoder{PACKAGE}"
        with writing(path), _temporary_files_in(unfinished):
            _write(model, options, package, unfinished)
            package.replace(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def _temporary_files_in(folder: Path) -> Generator[None]:
    """Coremltools writes all weights to the system's folder first, and leaves them there when it is killed."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _write(model: GgmlModel, options: CoremlOptions, package: Path, room: Path) -> None:
    """`room` is a folder for the parts of a pipeline."""
    ranges = block_ranges(model.hyper.n_audio_layer, options.parts)
    if len(ranges) == 1:
        _save(encoder_program(model, options, ranges[0]), package)
        return
    import coremltools as ct  # noqa: PLC0415

    parts = [_save(encoder_program(model, options, blocks), room / f"{blocks.start}{PACKAGE}") for blocks in ranges]
    ct.utils.make_pipeline(*parts, compute_units=ct.ComputeUnit.ALL).save(str(package))


def _save(program: Program, path: Path) -> MLModel:
    """Write a program. It is float16 already: FLOAT32 means that no pass converts it, and no pass is run at all."""
    import coremltools as ct  # noqa: PLC0415

    return ct.convert(
        program,
        source="milinternal",
        convert_to="mlprogram",
        minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.precision.FLOAT32,
        compute_units=ct.ComputeUnit.ALL,
        skip_model_load=True,  # on a Mac it would be compiled for the Neural Engine on the spot
        pass_pipeline=ct.PassPipeline.EMPTY,
        package_dir=str(path),
    )
