"""The graphs in ONNX Runtime: encoder, cross and decoder as sessions, results kept where the runtime left them.

A cache is never copied through Python between steps: the runtime's own values go out of one run and into the next.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)

from engine.errors import Code, EngineError
from engine.types import OperatorTime
from engine.whisper.decode import Step

Floats = NDArray[np.float32]
_PROVIDERS = ["CPUExecutionProvider"]
_FAILURES = (  # they share no base but Exception
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
_KERNEL = "_kernel_time"


class _Details(msgspec.Struct, frozen=True):
    op_name: str = ""


class _Event(msgspec.Struct):
    """An event of ONNX Runtime's profile; `dur` in microseconds."""

    name: str
    dur: int = 0
    args: _Details = _Details()


@dataclass(slots=True)
class Cache:
    """What the decoder remembers of a batch of windows: cross keys and values, and those of its own tokens."""

    cross: dict[str, ort.OrtValue]
    past: dict[str, ort.OrtValue] = field(default_factory=dict[str, ort.OrtValue])
    length: int = 0  # tokens so far
    rows: int = 1

    def take(self, rows: Sequence[int]) -> Cache:
        """The cache of some of its rows, in this order; a row may come several times.

        Cross keys and values of a single window serve all rows that come of it: the graph repeats them by itself.
        """
        index = np.asarray(rows)
        one_window = all(value.shape()[0] == 1 for value in self.cross.values())
        cross = self.cross if one_window else {name: _taken(value, index) for name, value in self.cross.items()}
        past = {name: _taken(value, index) for name, value in self.past.items()}
        return Cache(cross, past, self.length, len(rows))


class OnnxGraphs:
    """Three sessions over the graphs in a folder."""

    def __init__(self, folder: Path, threads: int, profile: bool = False, encoder_later: bool = False) -> None:
        """`encoder_later`: its encoder is loaded when it is first asked for, as something else is to encode."""
        self._threads = threads
        self._profiles = tempfile.mkdtemp(prefix="sottovoce-") if profile else ""
        if profile:
            weakref.finalize(self, shutil.rmtree, self._profiles, ignore_errors=True)
        self._encoder_file = folder / "encoder.onnx"
        self._encoder = None if encoder_later else self._session(self._encoder_file)
        self._cross = self._session(folder / "cross.onnx")
        self._decoder = self._session(folder / "decoder.onnx")
        self._cross_names = [output.name for output in self._cross.get_outputs()]
        inputs: dict[str, list[Any]] = {node.name: node.shape for node in self._decoder.get_inputs()}
        self._past_names = [name.removeprefix("past_") for name in inputs if name.startswith("past_")]
        self._masked = "mask" in inputs
        self.cross_bytes = 4 if self._masked else 1
        self._head_shape = tuple(int(size) for size in inputs["past_key.0"][1::2])

    def encode(self, mel: Floats) -> ort.OrtValue:
        """One window's (1, mels, frames) → the encoder's output (1, frames / 2, width), left in the runtime."""
        if self._encoder is None:
            self._encoder = self._session(self._encoder_file)
        return _run(self._encoder, {"mel": _value(mel)}, ["encoded"])[0]

    def cross(self, encoded: Sequence[ort.OrtValue]) -> Cache:
        """An empty cache over the cross keys and values of windows that are equally long, a row each."""
        each = [_run(self._cross, {"encoded": window}, self._cross_names) for window in encoded]
        joined = [_joined(values) for values in zip(*each, strict=True)]
        heads, size = self._head_shape
        empty = np.zeros((len(encoded), heads, 0, size), np.float32)
        past = {name: _value(empty) for name in self._past_names}
        return Cache(dict(zip(self._cross_names, joined, strict=True)), past, 0, len(encoded))

    def step(self, tokens: NDArray[np.int64], cache: Cache) -> Step:
        """Run tokens (b, n) behind what `cache` holds, and let it hold them too."""
        n, past = tokens.shape[1], cache.length
        inputs = {
            "tokens": _value(tokens),
            "positions": _value(np.arange(past, past + n, dtype=np.int64)),
            **cache.cross,
            **{f"past_{name}": value for name, value in cache.past.items()},
        }
        if self._masked:
            inputs["mask"] = _value(np.triu(np.full((n, past + n), -np.inf, np.float32), past + 1))
        logits, alignment, *new = _run(self._decoder, inputs, ["logits", "alignment", *self._past_names])
        cache.past = dict(zip(self._past_names, new, strict=True))
        cache.length += n
        return Step(logits.numpy(), alignment.numpy())

    def operators(self) -> tuple[OperatorTime, ...]:
        """Time by graph and operator so far; empty unless profiling. It ends that: a session is profiled once."""
        if not self._profiles:
            return ()
        sessions = {"encoder": self._encoder, "cross": self._cross, "decoder": self._decoder}
        profiles = {name: session.end_profiling() for name, session in sessions.items() if session}
        times = [time for name, profile in profiles.items() for time in _operators(name, profile)]
        shutil.rmtree(self._profiles, ignore_errors=True)
        self._profiles = ""
        return tuple(times)

    def _session(self, path: Path) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        # each session has threads of its own; else those of the last one spin on and take the next one's cores:
        # a third of all time on 2 cores
        options.add_session_config_entry("session.force_spinning_stop", "1")
        options.enable_cpu_mem_arena = False  # as fast without, and nothing is held between windows
        options.log_severity_level = 3
        options.enable_profiling = bool(self._profiles)
        options.profile_file_prefix = str(Path(self._profiles, path.stem))
        try:
            return ort.InferenceSession(str(path), options, providers=_PROVIDERS)
        except _FAILURES as error:
            raise EngineError(Code.BACKEND_FAILED, f"ONNX Runtime cannot load {path.name}: {error}") from error


def _run(session: ort.InferenceSession, inputs: dict[str, ort.OrtValue], outputs: Sequence[str]) -> list[ort.OrtValue]:
    try:
        return session.run_with_ort_values(list(outputs), inputs)
    except _FAILURES as error:
        raise EngineError(Code.BACKEND_FAILED, f"ONNX Runtime failed: {error}") from error


def _operators(graph: str, profile: str) -> list[OperatorTime]:
    """The kernels' times in the file `profile`."""
    events = msgspec.json.decode(Path(profile).read_bytes(), type=list[_Event])
    kinds: dict[str, list[int]] = {}
    for event in events:
        if event.name.endswith(_KERNEL):
            kinds.setdefault(event.args.op_name, []).append(event.dur)
    return [OperatorTime(graph, kind, sum(times) / 1000, len(times)) for kind, times in kinds.items()]


def _value(array: NDArray[Any]) -> ort.OrtValue:
    return ort.OrtValue.ortvalue_from_numpy(array)


def _joined(rows: Sequence[ort.OrtValue]) -> ort.OrtValue:
    return rows[0] if len(rows) == 1 else _value(np.concatenate([row.numpy() for row in rows]))


def _taken(value: ort.OrtValue, rows: NDArray[np.int64]) -> ort.OrtValue:
    return _value(value.numpy()[rows])
