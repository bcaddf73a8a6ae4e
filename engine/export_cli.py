"""`sottovoce export`: transcripts of the library, or exported ones, written in other formats or into a film."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from engine.errors import Code, EngineError
from engine.exports import FORMATS
from engine.exports.paragraphs import clock
from engine.exports.rules import PRESETS
from engine.folders import library_file
from engine.library import Library
from engine.outputs import Output, WrongUseError, formats_asked, make_ready, plan, write
from engine.terminal import named, say
from engine.transcribe_options import add_outputs
from engine.transcripts import Found, find
from engine.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its options."""
    parser = verbs.add_parser("export", help="write transcripts as subtitles, text or documents, or into a film")
    parser.add_argument(
        "transcripts", nargs="*", metavar="TRANSCRIPT|FILE",
        help="a number or title of the library, or a .json, .srt or .vtt file; none: list the library",
    )  # fmt: skip
    add_outputs(parser.add_argument)
    parser.add_argument("--words", action="store_true", help="times and probabilities of single words, in JSON")
    parser.add_argument("--mux", metavar="FILM", type=Path, help="a copy of this film with the subtitles, as --output")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, data: Path) -> int:
    """Exit code 0 when all was written, 1 when some failed, 2 for what does not go together."""
    path = library_file(data)
    library = Library.open(path, writable=False) if path.exists() else None
    if not arguments.transcripts:
        return _list(library)
    try:
        found = [find(asked, library) for asked in dict.fromkeys(arguments.transcripts)]
        return _mux(found, arguments) if arguments.mux else _write(found, arguments)
    except WrongUseError as error:
        say(f"sottovoce export: {error}")
        return 2


def _list(library: Library | None) -> int:
    for entry in library.entries() if library else []:
        length = clock(entry.duration) if entry.duration else ""
        print(f"{entry.id:>5}  {length:>8}  {named(os.fsencode(entry.title))}")
    return 0


def _write(found: list[Found], arguments: argparse.Namespace) -> int:
    formats = formats_asked(arguments.format, arguments.output)
    if arguments.output in (None, "-") and sys.stdout.isatty() and not FORMATS[formats[0]].is_text:
        raise WrongUseError(f"{formats[0]} is nothing for a terminal; give --output FILE")
    names = _apart([one.name for one in found])
    planned = plan(names, formats, arguments.output)
    failures = 0
    for name, one in zip(names, found, strict=True):
        failures += not _one(one, planned[name], arguments)
    return 1 if failures else 0


def _one(found: Found, outputs: tuple[Output, ...], arguments: argparse.Namespace) -> bool:
    try:
        _refuse_source(found, outputs)
        make_ready(outputs, arguments.overwrite)
        write(found.transcript, outputs, arguments.preset, arguments.words, arguments.overwrite)
    except EngineError as error:
        say(f"{named(found.name)}: {error}")
        return False
    for output in outputs:
        if output.path is not None:
            say(f"{named(found.name)}: wrote {named(output.path)}")
    return True


def _refuse_source(found: Found, outputs: tuple[Output, ...]) -> None:
    for path in (output.path for output in outputs if output.path is not None):
        if path.exists() and found.source.exists() and path.samefile(found.source):
            raise EngineError(Code.IS_SOURCE, named(path))


def _apart(names: list[Path]) -> list[Path]:
    """The same, but two transcripts of one name in two folders of their own, as `plan` tells recordings apart."""
    return [Path(str(place)) / name if name in names[:place] else name for place, name in enumerate(names)]


def _mux(found: list[Found], arguments: argparse.Namespace) -> int:
    from engine.mux import mux  # noqa: PLC0415 (PyAV is loaded only where a film is written)

    if len(found) > 1 or arguments.format or arguments.output in (None, "", "-"):
        raise WrongUseError("--mux takes one transcript, no --format, and --output FILE for the new film")
    target = Path(arguments.output)
    left = mux(arguments.mux, found[0].transcript, target, PRESETS[arguments.preset], arguments.overwrite)
    say(f"wrote {named(target)}")
    if left:
        say(f"without {left} stream{'s' if left > 1 else ''} that are neither sound, picture nor subtitles")
    return 0
