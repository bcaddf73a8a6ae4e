"""Our own engine with its encoder on the Neural Engine, through Core ML; the decoder stays on the CPU, in ONNX Runtime.

What the encoder gives is compared with what it should give each time it is loaded, and looked at each time it runs: a
result that is none becomes an error or, at work, a turn to the encoder of ONNX Runtime; never words.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from engine.backends import coreml_runtime
from engine.backends.coreml_runtime import Encoder
from engine.backends.cpu import threads_for
from engine.backends.graph_whisper import GraphWhisper
from engine.coreml.comparison import check_mel, demand
from engine.coreml.records import State, compiled_of, condemn_encoder, status_of
from engine.coreml.steps import read_expected
from engine.errors import Code, EngineError
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import read_model
from engine.types import Options
from engine.whisper.mel import MAX_FRAMES

Floats = NDArray[np.float32]


class CoremlGraphs(OnnxGraphs):
    """The graphs of ONNX Runtime, but for the encoder, as long as that of Core ML does what it should."""

    def __init__(self, folder: Path, options: Options, encoder: Encoder, on_failure: Callable[[str], None]) -> None:
        super().__init__(folder, threads_for(options.threads), options.profile, encoder_later=True)
        self._neural: Encoder | None = encoder
        self._on_failure = on_failure

    def encode(self, mel: Floats) -> ort.OrtValue:
        """(1, mels, 3000) → (1, 1500, width); see `Runtime.encode`."""
        if self._neural is not None:
            try:
                return ort.OrtValue.ortvalue_from_numpy(_sound(self._neural.predict(mel), mel))
            except EngineError as error:
                self._neural = None
                self._on_failure(str(error))
        return super().encode(mel)


def load_coreml(
    options: Options,
    model: Path,
    digest: str,
    cache: Path,
    on_part: Callable[[int, int], None],
    on_failure: Callable[[str], None],
) -> tuple[GraphWhisper, str]:
    """Load the ready encoder of `model`, whose sha256 is `digest`, and its decoder; also the encoder's name.

    `on_failure` is told why the encoder gave way to that of ONNX Runtime, once. EngineError BACKEND_MISSING when no
    encoder is ready, BACKEND_FAILED when it cannot be loaded or gives other numbers than it should; others as `onnx`.
    """
    system = coreml_runtime.SYSTEM
    status = status_of(cache, digest, system.unsupported(), system.build())
    folder = status.folder
    if folder is None or status.state is not State.READY:
        raise EngineError(Code.BACKEND_MISSING, str(status))
    try:
        encoder = system.load(compiled_of(folder))
        demand(encoder.predict(check_mel(read_model(model).filters)), read_expected(folder))
    except EngineError as error:
        condemn_encoder(folder, str(error))
        raise
    graphs, read = graphs_for(model, digest, options.precision, cache, on_part)

    def failed(why: str) -> None:
        condemn_encoder(folder, why)
        on_failure(why)

    runtime = CoremlGraphs(graphs, options, encoder, failed)
    device = f"Neural Engine (Core ML), decoder on the CPU ({options.precision})"
    return GraphWhisper("coreml", device, 1, runtime, read, graphs, frames=MAX_FRAMES), folder.name


def _sound(encoded: Floats, mel: Floats) -> Floats:
    """The output itself. EngineError BACKEND_FAILED when it has another shape, is not finite, or is empty."""
    if encoded.ndim != 3 or encoded.shape[:2] != (1, mel.shape[2] // 2):
        raise EngineError(Code.BACKEND_FAILED, f"The encoder gave {encoded.shape}.")
    if not np.isfinite(encoded).all():
        raise EngineError(Code.BACKEND_FAILED, "The encoder gave what are no numbers.")
    if not encoded.any():
        raise EngineError(Code.BACKEND_FAILED, "The encoder gave nothing but zeros.")
    return encoded
