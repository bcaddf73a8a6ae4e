"""Writes one transcript of the library, in a process of its own: a long one takes a second or two. No Qt here.

python -m app.export_job LIBRARY ENTRY FORMAT [FILE]      without a file: to standard output
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import EngineError
from engine.exports import FORMATS
from engine.files import atomic_write
from engine.library import Library


def main(arguments: Sequence[str]) -> int:
    """0 when it is written; 1 with the code and the detail of the failure, as a JSON list on standard error."""
    library_path, entry_id, format_name, *target = arguments
    try:
        library = Library.open(Path(library_path), writable=False)
        text = FORMATS[format_name].write(library.transcript(int(entry_id))).encode()
        if target:
            atomic_write(Path(target[0]), text, overwrite=True)
        else:
            sys.stdout.buffer.write(text)
    except EngineError as error:
        sys.stderr.buffer.write(msgspec.json.encode([error.code, error.detail]))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
