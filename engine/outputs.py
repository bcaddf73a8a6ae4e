"""Where the command line writes its results: formats and paths, settled before anything is transcribed."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from engine.errors import Code, EngineError
from engine.exports import FORMATS
from engine.exports.rules import PRESETS
from engine.files import atomic_write
from engine.terminal import named, to_stdout
from engine.types import Transcript

STDOUT = "-"
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")  # a redirected one looks like a plain file
_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))
WANT_WORDS = frozenset(name for name, format_ in FORMATS.items() if format_.wants_words)


class WrongUseError(Exception):
    """The command line asks for something that does not go together."""


@dataclass(frozen=True, slots=True)
class Output:
    """One result of one recording: its format, and its file (None: standard output)."""

    format: str
    path: Path | None


def plan(files: Sequence[Path], formats: Sequence[str], output: str | None) -> dict[Path, tuple[Output, ...]]:
    """What is written for each of `files`, no file twice and none of `files`. WrongUseError when it cannot be."""
    if output is None or output == STDOUT:
        if len(formats) > 1:
            raise WrongUseError("several formats need a folder: --output DIR")
        return {file: (Output(formats[0], None),) for file in files}
    if not output:
        raise WrongUseError("--output is empty")
    target = Path(output)
    if _means_file(target, output, several=len(files) > 1 or len(formats) > 1):
        planned = {files[0]: (Output(_only_format(files, formats, target), target),)}
    else:
        planned = _in_folder(files, formats, target)
    for one in planned.values():
        for path in (written.path for written in one if written.path is not None):
            _refuse_device(path)
            _refuse_recording(path, files)
    return planned


def formats_asked(given: str | None, output: str | None) -> tuple[str, ...]:
    """The formats of --format, else that of the output's suffix, else txt. WrongUseError for an unknown one."""
    if given is None:
        return (_known_suffix(Path(output or "")) or "txt",)
    names = tuple(dict.fromkeys(filter(None, (name.strip().lower() for name in given.split(",")))))
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        raise WrongUseError(f"no format {unknown[0] if unknown else given!r}; there are {', '.join(FORMATS)}")
    return names


def make_ready(outputs: Sequence[Output], overwrite: bool) -> None:
    """Make the folders and look whether the names are free, before any work is done.

    EngineError ALREADY_THERE unless `overwrite`; NOT_WRITABLE when a folder cannot be made or written in.
    """
    for path in (output.path for output in outputs if output.path is not None):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            there = _is_there(path)
        except OSError as error:
            raise EngineError(Code.NOT_WRITABLE, f"{named(path)}: {error.strerror or error}") from error
        if there and not overwrite:
            raise EngineError(Code.ALREADY_THERE, f"{named(path)} (--overwrite replaces it)")
        if not os.access(path.parent, os.W_OK):
            raise EngineError(Code.NOT_WRITABLE, f"{named(path)}: {os.strerror(errno.EACCES)}")


def write(transcript: Transcript, outputs: Sequence[Output], preset: str, words: bool, overwrite: bool) -> None:
    """Write every output, whole or not at all; `preset` names the rules of subtitles.

    EngineError of `atomic_write`, `to_stdout` and the formats.
    """
    plain = replace(transcript, segments=tuple(replace(segment, words=()) for segment in transcript.segments))
    for output in outputs:
        asked = transcript if words or output.format in WANT_WORDS else plain
        data = FORMATS[output.format].write(asked, PRESETS[preset])
        if output.path is None:
            to_stdout(data)
        else:
            atomic_write(output.path, data, overwrite=overwrite)


def _means_file(target: Path, output: str, several: bool) -> bool:
    """Whether a file is meant: one that is there, or a name with a suffix; else it is a folder."""
    if os.path.isdir(target) or output.endswith(_SEPARATORS):  # noqa: PTH112 (False for a name that is too long)
        return False
    return os.path.lexists(target) or bool(_known_suffix(target) or (target.suffix and not several))


def _only_format(files: Sequence[Path], formats: Sequence[str], target: Path) -> str:
    """The one format of an output that is a file. WrongUseError when there is more, or its suffix names another."""
    if len(files) > 1 or len(formats) > 1:
        raise WrongUseError(f"{named(target)} is one file; several results need a folder: --output DIR{os.sep}")
    suffix = _known_suffix(target)
    if suffix and suffix != formats[0]:
        raise WrongUseError(f"{named(target)} is a name for {suffix}, but --format says {formats[0]}")
    return formats[0]


def _known_suffix(target: Path) -> str:
    suffix = target.suffix.lstrip(".").lower()
    return suffix if suffix in FORMATS else ""


def _in_folder(files: Sequence[Path], formats: Sequence[str], folder: Path) -> dict[Path, tuple[Output, ...]]:
    """`talk.mp3` gives `talk.srt`; where two recordings would meet, `talk.mp3.srt`, then `talk.mp3 (2).srt`."""
    stems = Counter(_folded(file.stem) for file in files)
    taken: set[str] = set()
    planned: dict[Path, tuple[Output, ...]] = {}
    for file in files:
        numbered = (f"{file.name} ({number})" for number in count(2))
        own = [file.stem] if stems[_folded(file.stem)] == 1 else []
        base = next(name for name in chain(own, [file.name], numbered) if _folded(name) not in taken)
        taken.add(_folded(base))
        planned[file] = tuple(Output(name, folder / (base + FORMATS[name].suffix)) for name in formats)
    return planned


def _folded(name: str) -> str:
    """What file systems that ignore case, or how accents are spelt, take for the same name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _refuse_device(path: Path) -> None:
    status = _status(path)
    if str(path.absolute()).startswith(_STREAMS) or (status and not _is_plain(status.st_mode)):
        raise WrongUseError(f"{named(path)} is not a file; use --output - for standard output")


def _is_plain(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _refuse_recording(path: Path, files: Sequence[Path]) -> None:
    """Links count as the file they lead to: writing would destroy it all the same."""
    status = _status(path)
    for file in files if status else ():
        recording = _status(file)
        if status and recording and os.path.samestat(status, recording):
            raise WrongUseError(f"{named(path)} is the recording {named(file)} itself; it is never written over")


def _status(path: Path) -> os.stat_result | None:
    """What is there, None for nothing that can be reached."""
    try:
        return path.stat()
    except OSError:
        return None


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True
