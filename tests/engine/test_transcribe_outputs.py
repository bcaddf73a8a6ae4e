"""What the command line writes where, and what it never writes over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import Code, EngineError
from engine.outputs import Output, WrongUseError, formats_asked, make_ready, plan
from tests.engine.command_line import FAKE, Sottovoce

TOO_LONG = "x" * 300


def _names(files: list[str], formats: tuple[str, ...] = ("srt",)) -> list[str]:
    planned = plan([Path(file) for file in files], formats, "out/")
    return [output.path.name for outputs in planned.values() for output in outputs if output.path]


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["", "overwrite"])
@pytest.mark.parametrize("how", ["itself", "symlink", "hard link"])
def test_a_recording_is_never_written_over(
    sottovoce: Sottovoce, talk: Path, tmp_path: Path, how: str, overwrite: tuple[str, ...]
) -> None:
    recording, target = tmp_path / "talk.wav", tmp_path / "talk.txt"
    shutil.copy(talk, recording)
    if how == "symlink":
        target.symlink_to(recording)
    elif how == "hard link":
        target.hardlink_to(recording)
    else:
        target = recording
    before = recording.read_bytes()
    done = sottovoce("talk.wav", *FAKE, "--format", "txt", "--output", target.name, *overwrite)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is the recording talk.wav itself" in done.stderr
    assert recording.read_bytes() == before


def test_the_result_of_one_recording_is_not_written_over_another(tmp_path: Path) -> None:
    files = [tmp_path / "a.wav", tmp_path / "a.srt"]  # a video may be called anything
    folder = tmp_path / "out"
    folder.mkdir()
    files[0].touch()
    files[1].touch()
    (folder / "a.wav.srt").hardlink_to(files[1])
    with pytest.raises(WrongUseError, match="never written over"):
        plan(files, ("srt",), str(folder))


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["rec.wav"], ["rec.srt"]),
        (["d1/rec.wav", "d2/rec.wav"], ["rec.wav.srt", "rec.wav (2).srt"]),
        (["d1/rec.wav", "d2/rec.wav", "d3/REC.WAV"], ["rec.wav.srt", "rec.wav (2).srt", "REC.WAV (3).srt"]),
        (["a.wav", "a.mp3", "a.wav.ogg"], ["a.wav.srt", "a.mp3.srt", "a.wav.ogg.srt"]),
        (["a.wav.ogg", "a.wav", "a.mp3"], ["a.wav.srt", "a.wav (2).srt", "a.mp3.srt"]),
        (["d/caf\u00e9.wav", "e/cafe\u0301.wav"], ["caf\u00e9.wav.srt", "cafe\u0301.wav (2).srt"]),
        (["r.wav", "d/r.wav", "r.wav (2).mp3"], ["r.wav.srt", "r.wav (2).srt", "r.wav (2).mp3.srt"]),
    ],
    ids=str,
)
def test_no_two_results_have_one_name(files: list[str], names: list[str]) -> None:
    assert _names(files) == names


def test_two_recordings_of_one_name_are_both_written(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    for folder in ("d1", "d2"):
        (tmp_path / folder).mkdir()
        shutil.copy(talk, tmp_path / folder / "rec.wav")
    assert sottovoce("d1/rec.wav", "d2/rec.wav", "./d1/rec.wav", *FAKE, "--output", "out").returncode == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"rec.wav.txt", "rec.wav (2).txt"}


@pytest.mark.parametrize(
    ("given", "output", "formats"),
    [
        (None, None, ("txt",)),
        (None, "-", ("txt",)),
        (None, "talk.VTT", ("vtt",)),
        (" SRT , vtt,,srt,", "out", ("srt", "vtt")),
    ],
)
def test_formats_are_read_kindly(given: str | None, output: str | None, formats: tuple[str, ...]) -> None:
    assert formats_asked(given, output) == formats


@pytest.mark.parametrize(
    ("formats", "output", "words"),
    [
        (("vtt",), "talk.srt", "is a name for srt"),
        (("srt", "vtt"), "talk.srt", "several results need a folder"),
        (("txt",), "", "empty"),
        (("txt",), "/dev/stdout", "use --output - for standard output"),
        (("txt",), "/dev/null", "use --output - for standard output"),
    ],
)
def test_an_output_that_contradicts_is_wrong_use(formats: tuple[str, ...], output: str, words: str) -> None:
    with pytest.raises(WrongUseError, match=words):
        plan([Path("talk.wav")], formats, output)


def test_a_pipe_with_a_name_is_no_output(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WrongUseError, match="is not a file; use --output -"):
        plan([Path("talk.wav")], ("txt",), str(tmp_path / "pipe"))


@pytest.mark.parametrize("output", ["file/inside/talk.txt", f"{TOO_LONG}/talk.txt", f"{TOO_LONG}.txt"])
def test_a_place_that_cannot_be_written_is_told_before_any_work(tmp_path: Path, output: str) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / output
    (planned,) = plan([Path("talk.wav")], ("txt",), str(target)).values()
    with pytest.raises(EngineError) as caught:
        make_ready(planned, overwrite=False)
    assert caught.value.code is Code.NOT_WRITABLE


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nobody may write, root included."""
    folder = tmp_path / "read only"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a read-only file system needs root")
def test_a_read_only_folder_is_told_before_any_work(read_only: Path) -> None:
    with pytest.raises(EngineError) as caught:
        make_ready((Output("txt", read_only / "talk.txt"),), overwrite=False)
    assert caught.value.code is Code.NOT_WRITABLE


def test_a_folder_that_cannot_be_made_costs_a_sentence_a_file(sottovoce: Sottovoce, talk: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    other = shutil.copy(talk, tmp_path / "other.wav")
    done = sottovoce(talk, other, *FAKE, "--output", "file/out/")
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, len(lines)) == (1, 2)
    assert all("cannot be written there" in line for line in lines)


def _shell(line: str, tmp_path: Path, data: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'"$@" {line}', "sh", sys.executable, "-P", "-m", "engine", *arguments]
    environment = {**os.environ, "SOTTOVOCE_DATA": str(data)}
    return subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, timeout=60, check=False)


@pytest.mark.parametrize("how", [">/dev/full", ">&-"])
@pytest.mark.parametrize("events", [(), ("--events",)], ids=["text", "events"])
def test_a_standard_output_that_takes_nothing_costs_a_sentence_a_file(
    talk: Path, tmp_path: Path, how: str, events: tuple[str, ...]
) -> None:
    other = shutil.copy(talk, tmp_path / "other.wav")
    done = _shell(how, tmp_path, tmp_path / "data", "transcribe", talk, other, *FAKE, *events)
    lines = [line for line in done.stderr.decode().splitlines() if "standard output" in line]
    assert (done.returncode, len(lines)) == (1, 2)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.parametrize("how", [">/dev/full", ">&-"])
def test_a_list_that_cannot_be_printed_is_a_sentence(tmp_path: Path, how: str) -> None:
    done = _shell(how, tmp_path, tmp_path / "data", "models", "list")
    assert done.returncode == 1
    assert done.stderr.startswith(b"sottovoce: ")
    assert b"Exception" not in done.stderr


def test_a_closed_standard_output_does_not_matter_to_files(talk: Path, tmp_path: Path) -> None:
    done = _shell(">&-", tmp_path, tmp_path / "data", "transcribe", talk, *FAKE, "--output", "talk.txt")
    assert done.returncode == 0, done.stderr
    assert "words of window" in (tmp_path / "talk.txt").read_text()


@pytest.mark.parametrize("where", ["file", "file/data", TOO_LONG, "~nobody-of-this-name/../file"])
def test_a_data_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    done = _shell("", tmp_path, tmp_path, "--data-dir", tmp_path / where, "models", "list")
    assert done.returncode == 1
    assert b"cannot be written there" in done.stderr
    assert b"Traceback" not in done.stderr
