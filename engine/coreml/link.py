"""The model as whisper.cpp is to find it: under a second name, beside its compiled encoder."""

from __future__ import annotations

import os
from pathlib import Path

from engine.coreml.records import link_of
from engine.errors import Code, EngineError


def linked(model: Path, folder: Path) -> Path:
    """A hard link of `model` in an encoder's folder; a symlink would be undone by the binding, and a copy be large.

    EngineError NOT_WRITABLE, as when the model lies on another disk.
    """
    link = link_of(folder)
    try:
        if link.exists() and link.samefile(model):
            return link
        link.unlink(missing_ok=True)  # of another model with the same encoder, or of a file that was replaced
        os.link(model, link)
    except OSError as error:
        detail = f"The model cannot be linked beside its Core ML encoder: {error.strerror or error}"
        raise EngineError(Code.NOT_WRITABLE, detail) from error
    return link
