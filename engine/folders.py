"""Where everything lives: one data folder, by platform, by $SOTTOVOCE_DATA, or by --data-dir."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from engine.errors import Code, EngineError
from engine.files import shown

APP_NAME = "Sottovoce"


def data_folder(override: str | os.PathLike[str] | None = None) -> Path:
    """The data folder as an absolute path, made if it is not there, for this user alone.

    EngineError NOT_WRITABLE, here and below, when a folder cannot be made.
    """
    chosen = override or os.environ.get("SOTTOVOCE_DATA")
    if not chosen:
        return _made(Path(platformdirs.user_data_dir(APP_NAME, False)))
    return _made(Path(os.path.expanduser(chosen)).absolute())  # noqa: PTH111 (Path's raises for an unknown ~user)


def models_folder(data: Path) -> Path:
    """Model files and the records beside them."""
    return _made(data / "models")


def cache_folder(data: Path) -> Path:
    """What can be made again at any time."""
    return _made(data / "cache")


def state_folder(data: Path) -> Path:
    """Small facts about this machine, e.g. that its GPU failed."""
    return _made(data / "state")


def library_file(data: Path) -> Path:
    """The SQLite file of all jobs and transcripts."""
    return data / "library.sqlite"


def _made(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(Code.NOT_WRITABLE, f"{shown(path)}: {error.strerror or error}") from error
    return path
