"""Whether an encoder gives what it should: a fixed spectrum of spoken words, and two measures of the difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.backends.reference import reference_recording
from engine.errors import Code, EngineError
from engine.whisper.mel import MAX_FRAMES, log_mel

LEAST_PSNR = 35.0  # dB; where others draw the line too (whisperkittools)
LEAST_COSINE = 0.99  # mean over positions

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near a result is to what was expected."""

    psnr: float  # dB, of the largest value expected
    cosine: float  # mean over positions
    relative: float  # L2 of the difference over that of what was expected

    @property
    def good(self) -> bool:
        """Whether words may be made of it."""
        return self.psnr >= LEAST_PSNR and self.cosine >= LEAST_COSINE

    def __str__(self) -> str:
        return f"PSNR {self.psnr:.1f} dB, mean cosine {self.cosine:.5f}, relative L2 {self.relative:.1e}"


def check_mel(filters: Floats) -> Floats:
    """(1, n_mels, 3000): the spoken text of the self-check, so that residuals are as large as with speech."""
    with open_media(reference_recording()) as media:
        samples = np.concatenate([block.samples for block in media.blocks()])
    return log_mel(samples, filters, MAX_FRAMES)[None]


def likeness(found: Floats, expected: Floats) -> Likeness:
    """Compare (…, positions, width). EngineError BACKEND_FAILED for another shape, or for what is not finite."""
    if found.shape != expected.shape:
        raise EngineError(Code.BACKEND_FAILED, f"The encoder gave {found.shape}, not {expected.shape}.")
    if not np.isfinite(found).all():
        raise EngineError(Code.BACKEND_FAILED, "The encoder gave what are no numbers.")
    x, y = found.astype(np.float64), expected.astype(np.float64)
    off, tiny = np.square(x - y), np.finfo(np.float64).tiny
    psnr = 10 * np.log10(np.square(y).max() / max(off.mean(), tiny))
    lengths = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    cosine = ((x * y).sum(axis=-1) / np.maximum(lengths, tiny)).mean()
    relative = np.sqrt(off.sum() / max(np.square(y).sum(), tiny))
    return Likeness(float(min(psnr, 999.0)), float(cosine), float(relative))


def demand(found: Floats, expected: Floats) -> Likeness:
    """How near it is; EngineError BACKEND_FAILED where it is not near enough."""
    near = likeness(found, expected)
    if not near.good:
        raise EngineError(Code.BACKEND_FAILED, f"The encoder gave other numbers than it should: {near}.")
    return near
