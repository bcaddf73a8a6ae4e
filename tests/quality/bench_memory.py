"""Peak memory of our engine's process over two hours: of silence, and of speech."""

from __future__ import annotations

import math
import subprocess
import tempfile
from pathlib import Path

from recordings import SHARED
from runs import ours

from engine.child import EngineProcess
from engine.types import Options

SILENCE = SHARED / "odd" / "long_2h_silence_then_words.flac"
CHAPTER = SHARED / "speech" / "en_long_LJ001_chapter.ogg"
_CHAPTER_SECONDS = 232.95
_TWO_HOURS = 7200


def memory_of_silence(data: Path, backend: str) -> int:
    """Bytes, for two hours of silence with a sentence behind it."""
    return _peak(SILENCE, data, backend)


def memory_of_speech(data: Path, backend: str) -> int:
    """Bytes, for a chapter that is read again and again for two hours; takes minutes."""
    with tempfile.TemporaryDirectory() as folder:
        again = str(math.ceil(_TWO_HOURS / _CHAPTER_SECONDS) - 1)
        made = Path(folder, "two_hours.flac")
        command = ["ffmpeg", "-v", "error", "-stream_loop", again, "-i", CHAPTER, "-ac", "1", "-ar", "16000", made]
        subprocess.run(command, check=True)
        return _peak(made, data, backend)


def _peak(file: Path, data: Path, backend: str) -> int:
    """The engine's own figure, in a process that has done nothing else."""
    engine = EngineProcess(data)
    try:
        result = ours(engine, file, Options(backend=backend, device="cpu", language="en"))
    finally:
        engine.close()
    if result.error or not result.segments:
        raise SystemExit(f"{file.name} ended with {result.error or 'no text'}: its memory tells nothing.")
    print(f"{file.name}: {result.seconds:.1f} s, {len(result.segments)} segments", flush=True)
    return result.peak_memory
