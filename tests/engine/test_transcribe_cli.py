"""The command line as a user types it: exit codes, outputs, several files, awkward names, deaths of the engine."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import webvtt

from engine.protocol import Done, Failed, SegmentEvent, decode_event
from tests.engine.command_line import FAKE, Sottovoce

NAMES = [
    "name with  spaces.wav",
    "имя – 日本語 ñé.wav",
    "\U0001f3a4 memo.wav",
    "new\nline.wav",
    "-rf --help.wav",
    'quote\'s "double" `back`.wav',
    "semi;colon & $(touch pwned) |.wav",
    "100%d%s%n.wav",
    "é_NFD.wav",
    "trailing space .wav ",
    "[brackets]*?.wav",
    "http:__x.wav",
]


def test_text_comes_on_standard_output_and_nothing_else(sottovoce: Sottovoce, talk: Path) -> None:
    done = sottovoce(talk, "--model", "tiny.en")
    assert done.returncode == 0
    assert b"welcome to the first meeting" in done.stdout
    assert b"whisper" not in done.stdout + done.stderr


def test_the_starter_model_is_put_in_place_when_it_is_first_needed(
    sottovoce: Sottovoce, talk: Path, tmp_path: Path
) -> None:
    done = sottovoce(talk, "--language", "en", data=tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert b"welcome to the first meeting" in done.stdout
    assert (tmp_path / "new" / "models" / "ggml-base.bin").exists()


def test_one_bad_file_does_not_stop_the_rest(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    bad = tmp_path / "notes.mp3"
    bad.write_text("these are notes, not music\n" * 50)
    done = sottovoce(bad, talk, tmp_path / "gone.wav", *FAKE)
    assert done.returncode == 1
    assert b"words of window 0" in done.stdout
    lines = done.stderr.decode().splitlines()
    assert [line for line in lines if "not an audio or video file" in line]
    assert [line for line in lines if "gone.wav" in line and "not there" in line]
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_just_a_file(sottovoce: Sottovoce, talk: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(talk, tmp_path / name)
    done = sottovoce("--format", "srt", "--output", "out", *FAKE, "--", name)
    assert done.returncode == 0, done.stderr
    assert [file.suffix for file in (tmp_path / "out").iterdir()] == [".srt"]
    assert not (tmp_path / "pwned").exists()


def test_a_name_that_is_no_utf8_is_just_a_file(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.wav"
    shutil.copy(os.fsencode(talk), name)
    done = sottovoce(*FAKE, name)
    assert done.returncode == 0, done.stderr
    assert b"words of window 0" in done.stdout


def test_several_formats_are_written_beside_each_other(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    done = sottovoce(talk, *FAKE, "--format", "txt,srt,vtt,json", "--output", "here/")
    assert done.returncode == 0
    written = sorted(file.name for file in (tmp_path / "here").iterdir())
    assert written == [f"{talk.stem}{suffix}" for suffix in (".json", ".srt", ".txt", ".vtt")]
    assert webvtt.read(str(tmp_path / "here" / f"{talk.stem}.vtt")).captions
    told = done.stderr.decode()
    assert all(name in told for name in written)


def test_a_suffix_tells_the_format(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    assert sottovoce(talk, *FAKE, "--output", "talk.json").returncode == 0
    body = json.loads((tmp_path / "talk.json").read_text("utf-8"))
    assert body["version"] == 1
    assert body["backend"] == "fake"
    assert body["segments"][0]["words"] is None


def test_words_are_in_the_json_when_asked_for(sottovoce: Sottovoce, talk: Path) -> None:
    body = json.loads(sottovoce(talk, *FAKE, "--format", "json", "--words").stdout)
    assert body["segments"][0]["words"][0]["text"].strip() == "These"


def test_a_file_that_is_there_is_not_replaced_unless_told_so(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    target = tmp_path / "talk.txt"
    target.write_text("mine")
    done = sottovoce(talk, *FAKE, "--output", "talk.txt")
    assert done.returncode == 1
    assert b"already there" in done.stderr
    assert target.read_text() == "mine"
    assert sottovoce(talk, *FAKE, "--output", "talk.txt", "--overwrite").returncode == 0
    assert "words of window" in target.read_text()


def test_two_recordings_of_one_name_do_not_meet(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    for name in ("a.wav", "a.wave"):
        shutil.copy(talk, tmp_path / name)
    assert sottovoce("a.wav", "a.wave", *FAKE, "--output", "out").returncode == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"a.wav.txt", "a.wave.txt"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "doc"],
        ["--format", "srt,vtt"],
        ["--language", "klingon"],
        ["--backend", "gpu"],
        ["--threads", "many"],
        ["--events", "--format", "srt"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_two_and_says_why(sottovoce: Sottovoce, talk: Path, arguments: list[str]) -> None:
    done = sottovoce(talk, *arguments)
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr


def test_events_are_one_json_object_a_line(sottovoce: Sottovoce, talk: Path) -> None:
    done = sottovoce(talk, *FAKE, "--events")
    events = [decode_event(line) for line in done.stdout.splitlines()]
    assert isinstance(events[-1], Done)
    assert any(isinstance(event, SegmentEvent) for event in events)


def test_a_failed_file_is_an_event_with_its_code(sottovoce: Sottovoce, tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    done = sottovoce("empty.wav", *FAKE, "--events")
    last = decode_event(done.stdout.splitlines()[-1])
    assert isinstance(last, Failed)
    assert (done.returncode, last.code) == (1, "empty_file")


def test_the_timing_table_goes_to_standard_error(sottovoce: Sottovoce, talk: Path) -> None:
    done = sottovoce(talk, *FAKE, "--timings")
    for part in (b"load", b"media", b"vad", b"total", b"real time", b"peak memory"):
        assert part in done.stderr
    assert b"total" not in done.stdout


def test_a_profile_names_the_most_expensive_operators_of_the_runtime(sottovoce: Sottovoce, talk: Path) -> None:
    done = sottovoce(talk, "--backend", "onnx", "--model", "tiny.en", "--language", "en", "--timings", "--profile")
    assert done.returncode == 0
    said = done.stderr.decode()
    assert said.index("real time") < said.index("most expensive operators") < said.index("MatMul")
    assert b"MatMul" not in done.stdout


def test_a_backend_that_cannot_be_profiled_says_so(sottovoce: Sottovoce, talk: Path) -> None:
    done = sottovoce(talk, *FAKE, "--profile")
    assert done.returncode == 0
    assert b"only onnx and tract can tell" in done.stderr


@pytest.mark.parametrize(
    ("die", "words"),
    [
        ("SIGSEGV", "signal SIGSEGV"),
        ("SIGABRT", "signal SIGABRT"),
        ("SIGKILL", "killed"),
        ("exit", "code 1"),
        ("garbage", "unreadable"),
        ("error", "could not transcribe"),
    ],
)
def test_a_death_of_the_engine_costs_one_file_and_one_sentence(
    sottovoce: Sottovoce, talk: Path, tmp_path: Path, die: str, words: str
) -> None:
    script = {"die": die, "once": str(tmp_path / "died")}
    done = sottovoce(talk, shutil.copy(talk, tmp_path / "next.wav"), *FAKE, script=script)
    assert done.returncode == 1
    assert done.stdout.count(b"words of window 0") == 1
    assert words in done.stderr.decode()


def test_a_folder_named_like_a_recording_is_a_folder(sottovoce: Sottovoce, tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    done = sottovoce("folder.wav", *FAKE)
    assert done.returncode == 1
    assert b"folder" in done.stderr


def test_a_users_own_engine_folder_is_not_imported(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong engine')")
    assert sottovoce(talk, *FAKE).returncode == 0
