"""What happens to dropped files and folders until they wait."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pytestqt.qtbot import QtBot

from app.folder_walk import files_of
from app.jobs import Jobs
from engine.types import Options

OPTIONS = Options()


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def found(folder: Path) -> list[str]:
    return [os.path.relpath(path, os.fsencode(folder)).decode() for path in files_of(os.fsencode(folder)) if path]


@pytest.fixture
def held(jobs: Jobs) -> Jobs:
    """Jobs that begin none, so that only what is added counts."""
    jobs.queue.hold("the test")
    return jobs


@pytest.fixture
def said(held: Jobs) -> list[str]:
    heard: list[str] = []
    held.said.connect(heard.append)
    return heard


def titles(jobs: Jobs) -> list[str]:
    return [entry.title for entry in reversed(jobs.entries())]


def test_a_folder_is_walked_to_its_depth_in_the_order_of_the_names(tmp_path: Path) -> None:
    make(tmp_path, "b.mp3", "a/2.wav", "a/1/deep.m4a", "c.MP4", "B.ogg", "no suffix", "odd.unknown")
    assert found(tmp_path) == ["B.ogg", "a/1/deep.m4a", "a/2.wav", "b.mp3", "c.MP4", "no suffix", "odd.unknown"]


def test_hidden_files_and_what_is_surely_no_recording_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.wav", ".git/x.wav", "notes.txt", "cover.JPG", "talk.srt", "talk.mp3", "pages.key/in.wav")
    assert found(tmp_path) == ["pages.key/in.wav", "talk.mp3"]


def test_links_that_go_in_circles_end(tmp_path: Path) -> None:
    make(tmp_path, "a/talk.wav")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "nowhere").symlink_to("gone.wav")
    (tmp_path / "file").symlink_to("a/talk.wav")
    os.mkfifo(tmp_path / "pipe.wav")
    assert found(tmp_path) == ["a/talk.wav", "file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_folder_inside_that_may_not_be_read_is_left_out() -> None:
    code = "import sys; from app.folder_walk import files_of; print([p for p in files_of(sys.argv[1].encode()) if p])"
    with TemporaryDirectory() as folder:  # pytest's own is root's alone
        Path(folder).chmod(0o755)
        make(Path(folder), "a.wav", "locked/b.wav", "z.wav")
        (Path(folder) / "locked").chmod(0o700)
        as_nobody = ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c", code, folder]
        walked = subprocess.run(as_nobody, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert [name for name in ("a.wav", "b.wav", "z.wav") if name in walked.stdout] == ["a.wav", "z.wav"]


def test_dropped_folders_and_files_are_added_in_order(held: Jobs, tmp_path: Path, qtbot: QtBot) -> None:
    make(tmp_path, "one/b.wav", "one/a.wav", "one/readme.txt", "two.txt", "three.wav")
    held.add([os.fsencode(tmp_path / name) for name in ("three.wav", "one", "two.txt")], OPTIONS)
    qtbot.waitUntil(lambda: len(held.entries()) == 4)
    assert titles(held) == ["three.wav", "a.wav", "b.wav", "two.txt"]  # a dropped file is tried, whatever its name


def test_names_of_all_kinds_are_added_byte_for_byte(held: Jobs, tmp_path: Path, qtbot: QtBot) -> None:
    names = [b"\xff\xfe.wav", "日本語 é.wav".encode(), b"new\nline.wav", b"-rf --help.wav", b"100%d%s.wav"]
    make(tmp_path / "odd", *map(os.fsdecode, names))
    held.add([os.fsencode(tmp_path / "odd")], OPTIONS)
    qtbot.waitUntil(lambda: len(held.entries()) == len(names))
    assert {entry.source.rpartition(b"/")[2] for entry in held.entries()} == set(names)


def test_a_huge_folder_does_not_hold_the_event_loop(held: Jobs, tmp_path: Path, qtbot: QtBot) -> None:
    make(tmp_path / "huge", *(f"{number}.txt" for number in range(5_000)), *(f"{number}.wav" for number in range(50)))
    before = time.monotonic()
    held.add([os.fsencode(tmp_path / "huge")], OPTIONS)
    assert time.monotonic() - before < 0.05 * 10
    qtbot.waitUntil(lambda: len(held.entries()) == 50, timeout=20_000)


def test_the_same_file_dropped_twice_is_added_once(held: Jobs, said: list[str], tmp_path: Path) -> None:
    make(tmp_path, "talk.wav")
    path = os.fsencode(tmp_path / "talk.wav")
    assert held.add([path], OPTIONS) == held.add([path], OPTIONS)
    assert titles(held) == ["talk.wav"]
    assert said[-1] == "“talk.wav” is already in the list."


def test_the_same_file_with_other_options_is_another_job(held: Jobs, tmp_path: Path) -> None:
    make(tmp_path, "talk.wav")
    path = os.fsencode(tmp_path / "talk.wav")
    held.add([path], OPTIONS)
    held.add([path], Options(language="de"))
    assert len(held.entries()) == 2


def test_a_removed_file_can_be_dropped_again(held: Jobs, tmp_path: Path) -> None:
    make(tmp_path, "talk.wav")
    path = os.fsencode(tmp_path / "talk.wav")
    held.remove(held.add([path], OPTIONS))
    held.add([path], OPTIONS)
    assert titles(held) == ["talk.wav"]


@pytest.mark.parametrize("make_folder", [lambda folder: folder.mkdir(), lambda folder: make(folder, "notes.txt")])
def test_a_folder_without_recordings_says_so(
    held: Jobs, said: list[str], tmp_path: Path, qtbot: QtBot, make_folder: Callable[[Path], None]
) -> None:
    make_folder(tmp_path / "empty")
    held.add([os.fsencode(tmp_path / "empty")], OPTIONS)
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["There is no recording in the folder “empty”."]
    assert held.entries() == []
