"""Where the command line writes its results: formats and paths, settled before anything is transcribed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import Code, EngineError
from engine.exports import FORMATS
from engine.files import atomic_write
from engine.types import Transcript

STDOUT = "-"
SUBTITLES = frozenset({"srt", "vtt"})


class WrongUseError(Exception):
    """The command line asks for something that does not go together."""


@dataclass(frozen=True, slots=True)
class Output:
    """One result of one recording: its format, and its file (None: standard output)."""

    format: str
    path: Path | None


def plan(files: Sequence[Path], formats: Sequence[str], output: str | None) -> dict[Path, tuple[Output, ...]]:
    """What is written for each of `files`. WrongUseError when the output cannot hold it."""
    if output is None or output == STDOUT:
        if len(formats) > 1:
            raise WrongUseError("several formats need a folder: --output DIR")
        return {file: (Output(formats[0], None),) for file in files}
    target = Path(output)
    if len(files) > 1 or len(formats) > 1 or _is_folder(target, output):
        return _in_folder(files, formats, target)
    return {files[0]: (Output(formats[0], target),)}


def formats_asked(given: str | None, output: str | None) -> tuple[str, ...]:
    """The formats of --format, else that of the output's suffix, else txt. WrongUseError for an unknown one."""
    suffix = Path(output).suffix.lstrip(".").lower() if output and output != STDOUT else ""
    names = tuple(dict.fromkeys((given or (suffix if suffix in FORMATS else "txt")).split(",")))
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise WrongUseError(f"no format {unknown[0]!r}; there are {', '.join(FORMATS)}")
    return names


def check_free(outputs: Sequence[Output], overwrite: bool) -> None:
    """EngineError ALREADY_THERE before any work is done, unless `overwrite`."""
    for output in outputs:
        if output.path is not None and output.path.exists() and not overwrite:
            raise EngineError(Code.ALREADY_THERE, f"{output.path} (--overwrite replaces it)")


def write(transcript: Transcript, outputs: Sequence[Output], words: bool, overwrite: bool) -> None:
    """Write every output, whole or not at all. EngineError of `atomic_write`."""
    plain = replace(transcript, segments=tuple(replace(segment, words=()) for segment in transcript.segments))
    for output in outputs:
        asked = transcript if words or output.format in SUBTITLES else plain
        text = FORMATS[output.format].write(asked)
        if output.path is None:
            sys.stdout.buffer.write(text.encode("utf-8"))
            sys.stdout.buffer.flush()
        else:
            output.path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(output.path, text.encode("utf-8"), overwrite=overwrite)


def _is_folder(target: Path, output: str) -> bool:
    """Whether a folder is meant: one that is there, or a name without a suffix that is not there yet."""
    return target.is_dir() or output.endswith(os.sep) or not (target.suffix or target.exists())


def _in_folder(files: Sequence[Path], formats: Sequence[str], folder: Path) -> dict[Path, tuple[Output, ...]]:
    """`talk.mp3` gives `talk.srt`; where two recordings would meet, `talk.mp3.srt` and `talk.wav.srt`."""
    if folder.exists() and not folder.is_dir():
        raise WrongUseError(f"{folder} is a file; several results need a folder")
    stems = [file.stem for file in files]
    planned: dict[Path, tuple[Output, ...]] = {}
    for file in files:
        base = file.stem if stems.count(file.stem) == 1 else file.name
        planned[file] = tuple(Output(name, folder / (base + FORMATS[name].suffix)) for name in formats)
    return planned
