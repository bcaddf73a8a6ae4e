"""The options of `sottovoce transcribe`: how they are spelt, which values they take, and what the engine gets."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.backends.names import BACKENDS
from engine.exports import FORMATS
from engine.exports.rules import DEFAULT, PRESETS
from engine.languages import AUTO, languages_of
from engine.outputs import WANT_WORDS
from engine.types import Options

_NEWEST = "large-v3"  # it knows the most languages
_MOST_BEAMS = 8  # what whisper.cpp has room for
_LARGEST = 2**31 - 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Describe the files and all options."""
    parser.add_argument("files", nargs="+", metavar="FILE", type=_file, help="any audio or video file")
    _add_decoding(parser.add_argument)
    _add_results(parser.add_argument)


def engine_options(arguments: argparse.Namespace, formats: Sequence[str]) -> Options:
    """What the engine is asked for."""
    return Options(
        model=_model(arguments.model),
        backend=arguments.backend,
        device=arguments.device,
        low_power=arguments.low_power,
        precision=arguments.precision,
        language=arguments.language,
        task=arguments.task,
        prompt=arguments.prompt,
        words=arguments.words or not WANT_WORDS.isdisjoint(formats),
        vad=not arguments.no_vad,
        threads=arguments.threads,
        beam=arguments.beam,
        temperature=arguments.temperature,
        profile=arguments.profile,
        track=arguments.track,
    )


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """Describe what `live_options` reads."""
    _add_model(parser.add_argument)


def live_options(arguments: argparse.Namespace) -> Options:
    """What the engine is asked for while somebody records."""
    return Options(
        model=_model(arguments.model),
        backend=arguments.backend,
        precision=arguments.precision,
        language=arguments.language,
        task=arguments.task,
    )


def _add_model(add: Callable[..., object]) -> None:
    add("--model", default="base", metavar="NAME|PATH", help="a model's name, or the path of a ggml file (base)")
    add("--backend", default="auto", choices=BACKENDS, help="auto: the fastest here, as `selftest` shows")
    add("--precision", default="int8", choices=("int8", "fp32"), help="how onnx computes; tract: fp32 only")
    add("--language", default=AUTO, metavar="auto|CODE", type=_language, help="as en, de, ja; auto listens first")
    add("--task", default="transcribe", choices=("transcribe", "translate"), help="translate: into English")


def _add_decoding(add: Callable[..., object]) -> None:
    _add_model(add)
    add("--device", default="auto", choices=("auto", "cpu", "gpu", "neural"), help="neural: Apple's Neural Engine")
    add("--low-power", action="store_true", help="auto takes the Neural Engine even if something else is faster")
    add("--prompt", default="", metavar="TEXT", help="names and words that occur, or a style to follow")
    add("--no-vad", action="store_true", help="decode everything, not only where speech was found")
    add("--threads", default=0, metavar="N", type=_whole(0, _LARGEST), help="0: one a core")
    add("--beam", default=1, metavar="N", type=_whole(1, _MOST_BEAMS), help="1: greedy; up to 8")
    add("--temperature", default=0.0, metavar="T", type=_temperature, help="0: the likeliest words; up to 1")
    add("--track", metavar="N", type=_whole(1, _LARGEST), help="audio track, counted from 1; else the file's default")


def add_outputs(add: Callable[..., object]) -> None:
    """Describe what is written, and where."""
    add("--format", metavar="NAME,…", help=f"one or more of {', '.join(FORMATS)} (txt)")
    add("--preset", default=DEFAULT, choices=PRESETS, help="the rules of subtitles; plain: none")
    add("--output", metavar="DIR|FILE|-", help="where to write; - is standard output, the default")
    add("--overwrite", action="store_true", help="replace files that are already there")


def _add_results(add: Callable[..., object]) -> None:
    add_outputs(add)
    add("--words", action="store_true", help="times and probabilities of single words, in JSON")
    add("--events", action="store_true", help="one JSON event a line on standard output")
    add("--timings", action="store_true", help="a timing table on standard error")
    add("--profile", action="store_true", help="the most expensive operators of onnx or tract, on standard error")


def _file(name: str) -> Path:
    if not name:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(name)


def _model(name: str) -> str:
    """A path as an absolute one: the worker runs in another folder."""
    is_path = os.sep in name or "/" in name or name.endswith(".bin")
    return str(Path(name).absolute()) if is_path else name


def _language(text: str) -> str:
    wanted = text.strip().lower()
    for code, name in languages_of(_NEWEST).items():
        if wanted in (code, name.lower()):
            return code
    if wanted == AUTO:
        return wanted
    raise argparse.ArgumentTypeError(f"no language {text!r}; codes are as en, de, fr, ja")


def _whole(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        digits = text.strip().removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            raise argparse.ArgumentTypeError(f"not a whole number: {text!r}")
        if len(digits) > len(str(_LARGEST)) or not lowest <= int(text) <= highest:
            bounds = f"{lowest} to {highest}" if highest != _LARGEST else f"{lowest} or more"
            raise argparse.ArgumentTypeError(f"{text!r} will not do; it takes {bounds}")
        return int(text)

    return read


def _temperature(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 0 <= number <= 1:  # nor is it when it is not a number at all
        raise argparse.ArgumentTypeError(f"{text!r} will not do; it takes 0 to 1")
    return number
