"""Who takes part in the bench, each in a process of its own with its model warm.

Peers get samples that our reader has decoded, and their time begins there; ours begins with the file. They have as
many threads as there are cores, their own voice detection where it comes with them, and batches where they have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from peer_models import ctranslate2_folder, eight_bit_ggml
from recordings import SHARED, Recording
from runs import Peer, Result, ours

from engine.backends.cpu import physical_cores
from engine.child import EngineProcess
from engine.folders import cache_folder, models_folder
from engine.models.store import ModelStore
from engine.types import Options

OURS = "Sottovoce"
WHISPERCPP = "whisper.cpp"
WHISPERCPP_INT8 = "whisper.cpp q8_0"
FASTER = "faster-whisper beam 5"
BATCHED = "faster-whisper batch 8"
BATCHED_GREEDY = "faster-whisper batch 8 beam 1"

ON_CLIPS = (OURS, WHISPERCPP, WHISPERCPP_INT8, FASTER)
ON_LONG = (*ON_CLIPS, BATCHED, BATCHED_GREEDY)

SETTINGS = {
    OURS: "backend onnx, int8, greedy, voice detection, no word times",
    WHISPERCPP: "pywhispercpp's Model as it comes: f16, greedy; AVX2, FMA and F16C in its wheel for x86-64, and no "
    "model for whisper.cpp's voice detection",
    WHISPERCPP_INT8: "the same with its matrices as q8_0",
    FASTER: "int8, beam 5, vad_filter; multilingual for the recording in several languages",
    BATCHED: "its BatchedInferencePipeline as it comes (batch 8, beam 5, voice detection), int8; multilingual likewise",
    BATCHED_GREEDY: "the same with beam 1",
}

WARM_UP = SHARED / "speech" / "en_cards_005.wav"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A warm engine."""

    name: str
    run: Callable[[Recording], Result]


@contextmanager
def contestants(names: Sequence[str], data: Path, backend: str) -> Iterator[list[Contestant]]:
    """Start the engines, let each transcribe one clip, and end them afterwards."""
    with ExitStack() as running:
        started = [Contestant(name, _started(name, data, backend, running)) for name in names]
        for one in started:
            one.run(Recording(WARM_UP, "en", 3.5, 1, ""))
        yield started


def _started(name: str, data: Path, backend: str, running: ExitStack) -> Callable[[Recording], Result]:
    if name == OURS:
        engine = EngineProcess(data)
        running.callback(engine.close)
        return lambda recording: _ours(engine, recording, backend)
    peer = _peer(name, data)
    running.callback(peer.close)
    return lambda recording: peer.transcribe(recording.path, recording.language)


def _ours(engine: EngineProcess, recording: Recording, backend: str) -> Result:
    result = ours(engine, recording.path, Options(backend=backend, device="cpu", language=recording.language))
    if result.error:
        raise SystemExit(f"{recording.path.name} ended with {result.error}: there is nothing to compare.")
    return result


def _peer(name: str, data: Path) -> Peer:
    ggml, threads = ModelStore(models_folder(data)).path("base"), physical_cores()
    if name in (WHISPERCPP, WHISPERCPP_INT8):
        return Peer("whispercpp", ggml if name == WHISPERCPP else eight_bit_ggml(ggml, cache_folder(data)), threads)
    options = {FASTER: ("--beam", "5"), BATCHED: ("--batch", "8"), BATCHED_GREEDY: ("--batch", "8", "--beam", "1")}
    return Peer("faster-whisper", ctranslate2_folder(cache_folder(data)), threads, *options[name])
