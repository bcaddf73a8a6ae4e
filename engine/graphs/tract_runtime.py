"""The graphs in tract: the same three files as in ONNX Runtime, fp32, one thread.

Dimensions stay symbolic, so one plan serves every length. Tensors go from one run into the next without passing
through numpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tract
from numpy.typing import NDArray
from onnx import ModelProto

from engine.errors import Code, EngineError
from engine.models.whisper_layout import HEAD_SIZE, TEXT_CONTEXT
from engine.types import OperatorTime
from engine.whisper.decode import Step

Floats = NDArray[np.float32]


@dataclass(slots=True)
class Cache:
    """What the decoder remembers of a batch of windows: cross keys and values, and those of its own tokens."""

    cross: dict[str, tract.Tensor]
    past: dict[str, tract.Tensor] = field(default_factory=dict[str, tract.Tensor])
    length: int = 0  # tokens so far
    rows: int = 1
    one_window: bool = True  # all rows continue the same window: their cross keys and values are alike

    def take(self, rows: Sequence[int]) -> Cache:
        """The cache of some of its rows, in this order; a row may come several times."""
        index = np.asarray(rows)
        alike = self.one_window and len(rows) == self.rows
        cross = self.cross if alike else {name: _taken(tensor, index) for name, tensor in self.cross.items()}
        past = {name: _taken(tensor, index) for name, tensor in self.past.items()}
        return Cache(cross, past, self.length, len(rows), self.one_window)


class _Node(msgspec.Struct):
    """A node in tract's profile; constants and inputs have no time."""

    op_name: str
    secs_per_iter: float = 0.0


class _Profile(msgspec.Struct):
    nodes: list[_Node]


@dataclass(slots=True)
class _Plan:
    """A graph ready to run, with the names that the file gives its inputs and outputs, in order."""

    name: str
    runnable: tract.Runnable
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    profile: bool
    runs: int = 0
    last: Sequence[tract.Tensor | NDArray[Any]] = ()  # what it last ran on, when that is to be measured

    @classmethod
    def load(cls, path: Path, profile: bool) -> _Plan:
        """EngineError BACKEND_FAILED when tract does not take the file."""
        try:
            runnable = tract.onnx().load(path).into_model().into_runnable()
        except tract.TractError as error:
            raise EngineError(Code.BACKEND_FAILED, f"tract cannot load {path.name}: {_cause(error)}") from error
        graph = ModelProto.FromString(path.read_bytes()).graph  # tract tells the names of nodes only
        inputs, outputs = tuple(i.name for i in graph.input), tuple(o.name for o in graph.output)
        return cls(path.stem, runnable, inputs, outputs, profile)

    def run(self, values: Mapping[str, tract.Tensor | NDArray[Any]]) -> dict[str, tract.Tensor]:
        inputs = [values[name] for name in self.inputs]
        self.runs += 1
        self.last = inputs if self.profile else ()
        try:
            found = self.runnable.run(inputs)
        except tract.TractError as error:
            raise EngineError(Code.BACKEND_FAILED, f"tract failed: {_cause(error)}") from error
        return dict(zip(self.outputs, found, strict=True))

    def operators(self) -> list[OperatorTime]:
        """Time by operator of all runs so far, as if each had been like the last, which is repeated for 5 s."""
        if not self.last:
            return []
        seconds: dict[str, list[float]] = {}
        for node in msgspec.json.decode(self.runnable.profile_json(self.last), type=_Profile).nodes:
            if node.secs_per_iter:
                seconds.setdefault(node.op_name, []).append(node.secs_per_iter)
        return [
            OperatorTime(self.name, kind, 1000 * self.runs * sum(each), self.runs * len(each))
            for kind, each in seconds.items()
        ]


class TractGraphs:
    """Three plans over the graphs in a folder."""

    cross_bytes = 4

    def __init__(self, folder: Path, profile: bool = False) -> None:
        self._encoder = _Plan.load(folder / "encoder.onnx", profile)
        self._cross = _Plan.load(folder / "cross.onnx", profile)
        self._decoder = _Plan.load(folder / "decoder.onnx", profile)
        past = self._decoder.runnable.input_fact(self._decoder.inputs.index("past_key.0"))
        self._heads = int(past.dim(1))

    def encode(self, mel: Floats) -> tract.Tensor:
        """One window's (1, mels, frames) → the encoder's output (1, frames / 2, width), left in the runtime."""
        return self._encoder.run({"mel": mel})["encoded"]

    def cross(self, encoded: Sequence[tract.Tensor]) -> Cache:
        """An empty cache over the cross keys and values of windows that are equally long, a row each."""
        each = [self._cross.run({"encoded": window}) for window in encoded]
        cross = {name: _joined([values[name] for values in each]) for name in each[0]}
        empty = tract.Tensor.from_numpy(np.zeros((len(each), self._heads, 0, HEAD_SIZE), np.float32))
        past = {name.removeprefix("cross_"): empty for name in cross}
        return Cache(cross, past, 0, len(each), len(each) == 1)

    def step(self, tokens: NDArray[np.int64], cache: Cache) -> Step:
        """Run tokens (b, n) behind what `cache` holds, and let it hold them too."""
        n, past = tokens.shape[1], cache.length
        if past + n > TEXT_CONTEXT:  # tract would end the process
            raise EngineError(Code.BACKEND_FAILED, f"The decoder has no place for {past + n} tokens.")
        found = self._decoder.run(
            {
                "tokens": tokens,
                "positions": np.arange(past, past + n, dtype=np.int64),
                "mask": np.triu(np.full((n, past + n), -np.inf, np.float32), past + 1),
                **cache.cross,
                **{f"past_{name}": tensor for name, tensor in cache.past.items()},
            }
        )
        cache.past = {name: found[name] for name in cache.past}
        cache.length += n
        return Step(found["logits"].to_numpy(), found["alignment"].to_numpy())

    def operators(self) -> tuple[OperatorTime, ...]:
        """Time by graph and operator so far, from one more look at each graph; empty unless profiling."""
        return tuple(time for plan in (self._encoder, self._cross, self._decoder) for time in plan.operators())


def _joined(rows: Sequence[tract.Tensor]) -> tract.Tensor:
    return rows[0] if len(rows) == 1 else tract.Tensor.from_numpy(np.concatenate([row.to_numpy() for row in rows]))


def _taken(tensor: tract.Tensor, rows: NDArray[np.int64]) -> tract.Tensor:
    return tract.Tensor.from_numpy(tensor.to_numpy()[rows])


def _cause(error: tract.TractError) -> str:
    """What went wrong; a backtrace of tract's own code follows it."""
    return str(error).partition("\n\n")[0]
