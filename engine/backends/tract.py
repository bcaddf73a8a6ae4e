"""Our own engine on tract: the fp32 graphs, one window at a time, on one core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.backends.graph_whisper import GraphWhisper
from engine.graphs.cache import graphs_for
from engine.graphs.tract_runtime import TractGraphs
from engine.types import Options


def load_tract(
    options: Options, model: Path, digest: str, cache: Path, on_part: Callable[[int, int], None]
) -> GraphWhisper:
    """Build the graphs of `model` (whose sha256 is `digest`) if need be, and load them."""
    folder, read = graphs_for(model, digest, "fp32", cache, on_part)
    return GraphWhisper("tract", "CPU (tract fp32)", 1, TractGraphs(folder, options.profile), read, folder)
