"""Writes one transcript of the library, in a process of its own: a long one takes a second or two. No Qt here.

python -m app.export_job LIBRARY ENTRY FORMAT PRESET [FILE]      without a file: to standard output
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import Code, EngineError
from engine.exports import FORMATS
from engine.exports.rules import PRESETS
from engine.files import atomic_write
from engine.library import Library


def main(arguments: Sequence[str]) -> int:
    """0 when it is written; 1 with the code and the detail of the failure, as a JSON list on standard error."""
    library_path, entry_id, format_name, preset, *target = arguments
    try:
        library = Library.open(Path(library_path), writable=False)
        source = library.entry(int(entry_id)).source
        transcript, rules = library.transcript(int(entry_id)), PRESETS[preset]
        data = FORMATS[format_name].write(transcript, rules)
        if target:
            _refuse_source(Path(target[0]), source)
            atomic_write(Path(target[0]), data, overwrite=True)
        else:
            sys.stdout.buffer.write(data)
    except EngineError as error:
        sys.stderr.buffer.write(msgspec.json.encode([error.code, error.detail]))
        return 1
    return 0


def _refuse_source(target: Path, source: bytes) -> None:
    """The dialog lets any file be replaced, but the recording is never written, by whatever name."""
    try:
        same = target.samefile(os.fsdecode(source))
    except OSError:
        return  # one of them is not there or out of reach, so they are not the same
    if same:
        raise EngineError(Code.IS_SOURCE, str(target))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
