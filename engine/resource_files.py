"""Where the files that come with the program are: icons, and later other data."""

from __future__ import annotations

from pathlib import Path

_RESOURCES = Path(__file__).resolve().parent.parent / "resources"  # beside engine/, in a checkout and installed alike


def resource(*parts: str) -> Path:
    """The path of a file under resources/; FileNotFoundError when the program was installed without it."""
    path = _RESOURCES.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(path)
    return path
