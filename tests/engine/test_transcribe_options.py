"""How options of the command line become options of the engine, and which values are refused."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.transcribe_options import add_options, engine_options
from engine.types import Options


def _options(*words: str, formats: tuple[str, ...] = ("txt",)) -> Options:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return engine_options(parser.parse_args(["talk.wav", *words]), formats)


GIVEN: list[tuple[str, str, object]] = [
    ("--model small", "model", "small"),
    ("--model ./m.bin", "model", str(Path.cwd() / "m.bin")),
    ("--model m.bin", "model", str(Path.cwd() / "m.bin")),
    ("--model /models/m", "model", "/models/m"),
    ("--backend onnx", "backend", "onnx"),
    ("--device gpu", "device", "gpu"),
    ("--device neural", "device", "neural"),
    ("--low-power", "low_power", True),
    ("--precision fp32", "precision", "fp32"),
    ("--language de", "language", "de"),
    ("--language German", "language", "de"),
    ("--language AUTO", "language", "auto"),
    ("--language yue", "language", "yue"),
    ("--language cantonese", "language", "yue"),
    ("--task translate", "task", "translate"),
    ("--prompt Sottovoce", "prompt", "Sottovoce"),
    ("--words", "words", True),
    ("--no-vad", "vad", False),
    ("--threads 3", "threads", 3),
    ("--beam 8", "beam", 8),
    ("--temperature 0.5", "temperature", 0.5),
    ("--temperature 1", "temperature", 1.0),
    ("--profile", "profile", True),
    ("--track 2", "track", 2),
]


@pytest.mark.parametrize(("words", "field", "value"), GIVEN, ids=[words for words, _, _ in GIVEN])
def test_every_option_reaches_the_engine(words: str, field: str, value: object) -> None:
    expected = replace(Options(), **{field: value})  # pyright: ignore[reportArgumentType] (one of them all)
    assert _options(*words.split()) == expected


def test_no_field_of_the_options_is_without_an_option() -> None:
    of_the_pipeline = {"may_switch"}  # it asks for that itself
    assert {field.name for field in fields(Options)} - of_the_pipeline == {field for _, field, _ in GIVEN}


def test_without_options_the_engine_gets_its_defaults() -> None:
    assert _options() == Options()


def test_subtitles_need_the_times_of_words() -> None:
    assert _options(formats=("txt", "srt")).words


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--temperature", "nan"], "0 to 1"),
        (["--temperature", "inf"], "0 to 1"),
        (["--temperature", "-0.1"], "0 to 1"),
        (["--temperature", "1.1"], "0 to 1"),
        (["--temperature", "warm"], "not a number"),
        (["--beam", "0"], "1 to 8"),
        (["--beam", "9"], "1 to 8"),
        (["--track", "0"], "1 or more"),
        (["--threads", "-1"], "0 or more"),
        (["--threads", "many"], "not a whole number"),
        (["--threads", "1_0"], "not a whole number"),
        (["--threads", "٣"], "not a whole number"),
        (["--track", "9" * 5000], "1 or more"),
        (["--language", "klingon"], "no language"),
        (["--language", ""], "no language"),
        (["--format", ","], "no format"),
        (["--output", ""], "empty"),
        (["--over"], "unrecognized"),
        ([""], "empty"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_a_value_that_will_not_do_is_wrong_use(
    words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["--data-dir", str(tmp_path), "transcribe", "talk.wav", *words])
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr().err
    assert code == 2
    assert says in said
    assert "_whole" not in said


@pytest.mark.parametrize("words", [["--data", "x", "models", "list"], ["models", "import", "x", "--na", "y"]], ids=str)
def test_no_option_can_be_shortened(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
