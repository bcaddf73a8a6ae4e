"""Where someone speaks: Silero's voice detector in ONNX Runtime, on one thread, carried from call to call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from engine.speech.silero_graph import CONTEXT, FRAME, STATE, read_weights, weights_file, whole_sequence_graph
from engine.types import SAMPLES_PER_MS

if TYPE_CHECKING:
    from engine.types import Samples

FRAME_MS = FRAME // SAMPLES_PER_MS

# The detector hears best at some levels, far talkers quiet and noisy ones loud, so it listens 12 dB down and 8 dB up.
# Measured: of two far-field meetings (23 s of speech) it misses 2.2 s so, 4.8 s at the level that was recorded; making
# every stretch equally loud is worse (one meeting is lost whole), since it grows deaf where the gain jumps.
LEVELS = (0.25, 2.5)

_RUN = 256  # frames a run at most, 8 s: the batch fits the cache, and memory does not grow with the audio


class SpeechDetector:
    """Speech probabilities of one recording, frame by frame. A detector is for one recording: it remembers.

    Building the graph takes about 10 ms, so that it is made anew each time and nothing is cached on disk.
    """

    def __init__(self) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1  # more threads cost more than they give, and the decoder needs them
        options.inter_op_num_threads = 1
        graph = whole_sequence_graph(read_weights(weights_file()), LEVELS)
        self._session = ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._h = np.zeros((1, len(LEVELS), STATE), np.float32)
        self._c = np.zeros((1, len(LEVELS), STATE), np.float32)
        self._waiting = np.zeros(CONTEXT, np.float32)  # the context, and samples that do not fill a frame yet

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        """One probability in 0 … 1 for each 512 samples (32 ms); samples short of a frame wait for the next call.

        The numbers do not depend on how the recording is cut into calls (up to rounding, below 1e-6).
        """
        samples = np.concatenate([self._waiting, samples.astype(np.float32, copy=False)])
        frames = (len(samples) - CONTEXT) // FRAME
        self._waiting = samples[frames * FRAME :].copy()
        runs = [
            self._run(samples[first * FRAME : min(first + _RUN, frames) * FRAME + CONTEXT])
            for first in range(0, frames, _RUN)
        ]
        return np.concatenate(runs) if runs else np.zeros(0, np.float32)

    def _run(self, samples: Samples) -> NDArray[np.float32]:
        """`samples`: whole frames with the context before the first."""
        frames = np.lib.stride_tricks.sliding_window_view(samples, CONTEXT + FRAME)[::FRAME]
        inputs = {"frames": np.ascontiguousarray(frames), "h": self._h, "c": self._c}
        probability, self._h, self._c = self._session.run(["probability", "h_next", "c_next"], inputs)
        return probability
