"""What the engine uses of coremltools 9: written for its pyright, checked against the library by what runs."""

from enum import Enum
from typing import Any

from coremltools import models as models
from coremltools.converters.mil.mil import Program
from coremltools.models import MLModel
from coremltools.models import utils as utils

class ComputeUnit(Enum):
    ALL = 1
    CPU_AND_GPU = 2
    CPU_ONLY = 3
    CPU_AND_NE = 4

class AvailableTarget(Enum):
    iOS16 = 7

target = AvailableTarget

class precision(Enum):
    FLOAT16 = "float16"
    FLOAT32 = "float32"

class PassPipeline:
    EMPTY: PassPipeline

def convert(
    model: Program,
    *,
    source: str = ...,
    convert_to: str = ...,
    minimum_deployment_target: AvailableTarget = ...,
    compute_precision: precision = ...,
    compute_units: ComputeUnit = ...,
    skip_model_load: bool = ...,
    pass_pipeline: PassPipeline = ...,
    package_dir: str = ...,
) -> MLModel: ...
def __getattr__(name: str) -> Any: ...
