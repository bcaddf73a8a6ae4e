"""Packages of the real models, what they give for real recordings, and the words that a decoder makes of that."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.graphs.coreml_encoder import INPUT, OUTPUT, CoremlOptions
from engine.graphs.coreml_package import write_package
from engine.graphs.mil_eval import Arithmetic, Package
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.graphs.plain_encoder import plainly_encoded
from engine.models.ggml import GgmlModel
from engine.whisper.decode import Decoder, Prompt
from engine.whisper.mel import MAX_FRAMES, log_mel
from engine.whisper.rules import Extent
from engine.whisper.vocabulary import Vocabulary

Floats = NDArray[np.float32]

SCALED, UNSCALED = CoremlOptions(), CoremlOptions(residual_shift=0)
WIDE, ROUNDED = Arithmetic(rounded=False), Arithmetic()


def package(model: GgmlModel, options: CoremlOptions, folder: Path) -> Package:
    path = folder / f"{options}.mlpackage"
    if not path.exists():
        write_package(model, options, path)
    return Package(path)


def off(found: Floats, right: NDArray[np.floating]) -> float:
    """Relative L2 of the difference."""
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))


@dataclass
class Encoders:
    """One model: as a package, plainly, and as ONNX graphs whose decoder says what it hears in any of these."""

    model: GgmlModel
    graphs: OnnxGraphs | None  # None, where no words are asked for
    speech: Path  # where the recordings are
    folder: Path
    _plain: dict[str, Floats] = field(default_factory=dict)

    def mel(self, clip: str) -> Floats:
        with open_media(self.speech / clip) as media:
            samples = np.concatenate([block.samples for block in media.blocks()])
        return log_mel(samples[: 30 * 16_000], self.model.filters, MAX_FRAMES)[None]

    def plain(self, clip: str) -> Floats:
        if clip not in self._plain:
            self._plain[clip] = plainly_encoded(self.model, self.mel(clip)[0])[None]
        return self._plain[clip]

    def program(self, clip: str, options: CoremlOptions, arithmetic: Arithmetic) -> Floats:
        return package(self.model, options, self.folder).run({INPUT: self.mel(clip)}, arithmetic)[OUTPUT]

    def words(self, encoded: Floats) -> list[str]:
        """What the ONNX decoder makes of an encoder's output; at most 30 s are decoded greedily."""
        assert self.graphs is not None
        vocabulary = Vocabulary.of(self.model)
        prompt = Prompt((), vocabulary.prompt("en", "transcribe"))
        cache = self.graphs.cross([ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(encoded))])
        (said,) = Decoder(self.graphs, vocabulary).sample(cache, prompt, [Extent(30_000)], 0)
        text = vocabulary.text(said.tokens).decode("utf-8", "replace").lower()
        return "".join(char if char.isalnum() else " " for char in text).split()

    def words_of_onnx(self, clip: str) -> list[str]:
        assert self.graphs is not None
        return self.words(self.graphs.encode(self.mel(clip)).numpy())
