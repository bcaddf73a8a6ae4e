"""`sottovoce transcribe`: the pipeline from a terminal, file after file; one that fails does not stop the rest."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from engine.backends.names import BACKENDS
from engine.child import EngineProcess
from engine.collect import Collected
from engine.errors import Code, EngineError
from engine.languages import LANGUAGES
from engine.outputs import SUBTITLES, Output, WrongUseError, check_free, formats_asked, plan, write
from engine.protocol import Event, Failed, Progress, Transcribe, encode
from engine.report import progress_line, timing_table
from engine.types import Options
from engine.verbs import Verbs

_CLEAR_LINE = "\r\x1b[K"


def add_parser(verbs: Verbs) -> None:
    """Describe the verb and its options."""
    parser = verbs.add_parser("transcribe", help="write down what is said in recordings")
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="any audio or video file")
    add("--model", default="base", metavar="NAME|PATH", help="a model's name, or the path of a ggml file (base)")
    add("--backend", default="auto", choices=BACKENDS)
    add("--device", default="auto", choices=("auto", "cpu", "gpu"))
    add(
        "--precision",
        default="int8",
        choices=("int8", "fp32"),
        help="how onnx computes; tract: fp32 only",
    )
    add("--language", default="auto", metavar="auto|CODE", type=_language, help="as en, de, ja; auto listens first")
    add("--task", default="transcribe", choices=("transcribe", "translate"), help="translate: into English")
    add("--format", metavar="txt,srt,vtt,json", help="one or more, with commas between (txt)")
    add("--output", metavar="DIR|FILE|-", help="where to write; - is standard output, the default")
    add("--overwrite", action="store_true", help="replace files that are already there")
    add("--prompt", default="", metavar="TEXT", help="names and words that occur, or a style to follow")
    add("--words", action="store_true", help="times and probabilities of single words, in JSON")
    add("--no-vad", action="store_true", help="decode everything, not only where speech was found")
    add("--threads", default=0, metavar="N", type=_count, help="0: one a core")
    add("--beam", default=1, metavar="N", type=_count, help="1: greedy")
    add("--temperature", default=0.0, metavar="T", type=float)
    add("--track", metavar="N", type=_count, help="audio track, counted from 1; else the file's default")
    add("--events", action="store_true", help="one JSON event a line on standard output")
    add("--timings", action="store_true", help="a timing table on standard error")
    add("--profile", action="store_true", help="the most expensive operators of onnx or tract, on standard error")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace, data: Path) -> int:
    """Exit code 0 when every file was done, 1 when some failed."""
    files = [Path(name) for name in dict.fromkeys(arguments.files)]
    try:
        formats = formats_asked(arguments.format, arguments.output)
        planned = _planned(arguments, files, formats)
    except WrongUseError as error:
        _say(f"sottovoce transcribe: {error}")
        return 2
    options = _options(arguments, formats)
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
    name = os.fsencode(file).decode("utf-8", "replace")
    try:
        check_free(outputs, arguments.overwrite)
        command = Transcribe(number, os.fsencode(file.absolute()), options)
        collected = _collect(engine, command, name, arguments.events)
        write(collected.transcript(), outputs, arguments.words, arguments.overwrite)
    except EngineError as error:
        _say(f"{name}: {error}")
        return False
    _conclude(name, collected, outputs, arguments.timings)
    return True


def _collect(engine: EngineProcess, command: Transcribe, name: str, as_json: bool) -> Collected:
    """Show the events of one file as they come; EngineError when it failed."""
    collected = Collected(name)
    for event in engine.events(command):
        collected.take(event)
        _show(event, name, collected, as_json)
        if isinstance(event, Failed):
            raise EngineError(Code(event.code), event.detail)
    return collected


def _show(event: Event, name: str, collected: Collected, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(encode(event))
        sys.stdout.buffer.flush()
    if isinstance(event, Progress) and sys.stderr.isatty():
        print(_CLEAR_LINE + progress_line(name, event, collected.timings), end="", file=sys.stderr, flush=True)


def _conclude(name: str, collected: Collected, outputs: tuple[Output, ...], timings: bool) -> None:
    if not collected.segments:
        _say(f"{name}: no speech found")
    for output in outputs:
        if output.path is not None:
            _say(f"{name}: wrote {output.path}")
    if timings and collected.timings:
        _say(timing_table(collected.timings, collected.loaded))
    for notice in collected.notices:
        if notice.code == "profile":
            _say(notice.detail)


def _say(line: str) -> None:
    clear = _CLEAR_LINE if sys.stderr.isatty() else ""
    print(clear + line, file=sys.stderr)


def _planned(
    arguments: argparse.Namespace, files: list[Path], formats: tuple[str, ...]
) -> dict[Path, tuple[Output, ...]]:
    if arguments.events and arguments.output is None and arguments.format is None:
        return dict.fromkeys(files, ())  # the events are the result
    if arguments.events and arguments.output in (None, "-"):
        raise WrongUseError("--events takes standard output; give --output DIR for the results")
    return plan(files, formats, arguments.output)


def _options(arguments: argparse.Namespace, formats: tuple[str, ...]) -> Options:
    return Options(
        model=_model(arguments.model),
        backend=arguments.backend,
        device=arguments.device,
        precision=arguments.precision,
        language=arguments.language,
        task=arguments.task,
        prompt=arguments.prompt,
        words=arguments.words or not SUBTITLES.isdisjoint(formats),
        vad=not arguments.no_vad,
        threads=arguments.threads,
        beam=max(1, arguments.beam),
        temperature=arguments.temperature,
        profile=arguments.profile,
        track=arguments.track,
    )


def _model(name: str) -> str:
    """A path as an absolute one: the worker runs in another folder."""
    is_path = os.sep in name or "/" in name or name.endswith(".bin")
    return str(Path(name).absolute()) if is_path else name


def _language(text: str) -> str:
    wanted = text.lower()
    for code, name in LANGUAGES.items():
        if wanted in (code, name.lower()):
            return code
    if wanted == "auto":
        return wanted
    raise argparse.ArgumentTypeError(f"no language {text!r}; codes are as en, de, fr, ja")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("below 0")
    return number
