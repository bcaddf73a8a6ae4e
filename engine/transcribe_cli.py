"""`sottovoce transcribe`: the pipeline from a terminal, file after file; one that fails does not stop the rest."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engine.child import EngineProcess
from engine.collect import Collected
from engine.errors import Code, EngineError
from engine.files import shown
from engine.languages import language_name
from engine.notices import notice_sentence
from engine.outputs import Output, WrongUseError, formats_asked, make_ready, plan, write
from engine.protocol import Event, Failed, Language, Loaded, Notice, Progress, Started, Transcribe, encode
from engine.report import progress_words, timing_table
from engine.terminal import named, say, show_progress, to_stdout
from engine.transcribe_options import add_options, engine_options
from engine.types import Options
from engine.verbs import Verbs

_PROFILE = "profile"  # a notice that is a table, for the end


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its options."""
    parser = verbs.add_parser("transcribe", help="write down what is said in recordings")
    add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, data: Path) -> int:
    """Exit code 0 when every file was done, 1 when some failed, 2 for what does not go together."""
    files = list(dict.fromkeys(arguments.files))
    try:
        formats = formats_asked(arguments.format, arguments.output)
        planned = _planned(arguments, files, formats)
    except WrongUseError as error:
        say(f"sottovoce transcribe: {error}")
        return 2
    options = engine_options(arguments, formats)
    engine = EngineProcess(data)
    failures = 0
    try:
        for number, file in enumerate(files, 1):
            failures += not _one(engine, number, file, options, planned[file], arguments)
    finally:
        engine.close()
    return 1 if failures else 0


def _one(
    engine: EngineProcess,
    number: int,
    file: Path,
    options: Options,
    outputs: tuple[Output, ...],
    arguments: argparse.Namespace,
) -> bool:
    """Transcribe one file and write what was asked; whether that worked."""
    name = named(file)
    try:
        make_ready(outputs, arguments.overwrite)
        command = Transcribe(number, os.fsencode(file.absolute()), options)
        collected = _collect(engine, command, file, arguments.events)
        write(collected.transcript(), outputs, arguments.preset, arguments.words, arguments.overwrite)
    except EngineError as error:
        say(f"{name}: {error}")
        return False
    _conclude(name, collected, outputs, arguments.timings)
    return True


def _collect(engine: EngineProcess, command: Transcribe, file: Path, as_json: bool) -> Collected:
    """Show the events of one file as they come; EngineError when it failed, or when nobody takes them."""
    collected = Collected(shown(file))
    name = named(file)
    for event in engine.events(command):
        collected.take(event)
        if as_json:
            _hand_on(engine, event)
        if isinstance(event, Failed):
            raise EngineError(Code(event.code), event.detail)
        if isinstance(event, Progress):
            show_progress(name, progress_words(event, collected.timings))
        elif words := _remark(event, command.options):
            say(f"{name}: {words}")
    return collected


def _hand_on(engine: EngineProcess, event: Event) -> None:
    try:
        to_stdout(encode(event))
    except EngineError:
        engine.close()  # what it has still to say is not of the next file
        raise


def _remark(event: Event, options: Options) -> str:
    """What an event tells the user in a line of its own; "" for most."""
    match event:
        case Started() if event.tracks > 1:
            return f"audio track {event.track_name or event.track}"
        case Loaded() if options.device == "gpu" and not event.gpu:
            return f"no GPU can be used here, so it runs on the CPU ({event.reason})"
        case Language() if event.probability is not None:
            return f"the language is {language_name(event.code)} ({round(event.probability * 100)} % sure)"
        case Notice() if event.code != _PROFILE:
            return notice_sentence(event)
        case _:
            return ""


def _conclude(name: str, collected: Collected, outputs: tuple[Output, ...], timings: bool) -> None:
    if not collected.segments:
        say(f"{name}: no speech found")
    for output in outputs:
        if output.path is not None:
            say(f"{name}: wrote {named(output.path)}")
    if timings and collected.timings:
        say(timing_table(collected.timings, collected.loaded))
    for notice in collected.notices:
        if notice.code == _PROFILE:
            say(notice.detail)


def _planned(
    arguments: argparse.Namespace, files: list[Path], formats: tuple[str, ...]
) -> dict[Path, tuple[Output, ...]]:
    if arguments.events and arguments.output is None and arguments.format is None:
        return dict.fromkeys(files, ())  # the events are the result
    if arguments.events and arguments.output in (None, "-"):
        raise WrongUseError("--events takes standard output; give --output DIR for the results")
    return plan(files, formats, arguments.output)
