"""`make`: what it takes, what it lists, and what `make run` starts with and without a display."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN = ROOT / "packaging" / "run.py"
NAMES = [
    "a $b 'c'.mp3",
    "x y.mp3",
    "-rf.mp3",
    "semi;colon & $(touch pwned).mp3",
    '`touch pwned` "$(shell touch pwned)" $$.mp3',
    "100% #1 = a:b.mp3\\",
    "two\nlines.mp3",
    os.fsdecode(b"\xff\xfe not text.mp3"),
]
NOT_OURS = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "FILE", "STARTED_IN", "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}


def surroundings(**changes: str) -> dict[str, str]:
    """The environment of a user's shell: no display, no trace of the make or the Qt settings that we run under."""
    return {name: value for name, value in os.environ.items() if name not in NOT_OURS} | changes


def run(*command: str | Path, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = surroundings(PWD=str(folder), **changes)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def starter(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """packaging/run.py as a module, in a shell without a display."""
    specification = importlib.util.spec_from_file_location("packaging_run", RUN)
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    for name in NOT_OURS:
        monkeypatch.delenv(name, raising=False)
    return module


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("typed_as", ["argument", "variable"])
def test_a_file_name_reaches_python_as_it_was_typed(name: str, typed_as: str) -> None:
    makefile = "include Makefile\nprobe:\n\t@$(PY) -c 'import os; print(ascii(os.environ[\"FILE\"]))'\n"
    arguments = [f"FILE={name}"] if typed_as == "argument" else []
    environment = surroundings() if arguments else surroundings(FILE=name)
    command = ["make", "-f", "-", f"PY={sys.executable}", "probe", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=makefile, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ascii(name)
    assert not (ROOT / "pwned").exists()


def test_make_alone_lists_what_it_can_do(tmp_path: Path) -> None:
    listed = set(re.findall(r"^  make ([\w-]+) ", run("make", "-C", ROOT, folder=tmp_path).stdout, re.MULTILINE))
    assert set("run test check quality bench bench-ui bench-large screenshots format clean".split()) <= listed


def test_without_a_display_a_file_is_transcribed_in_the_terminal(tmp_path: Path) -> None:
    name = "there is no $such 'file'.mp3"
    done = run(
        sys.executable, "-P", RUN, folder=tmp_path, FILE=name, STARTED_IN=str(tmp_path), SOTTOVOCE_DATA=str(tmp_path)
    )
    assert "no display" in done.stderr.splitlines()[0]
    assert str(tmp_path / name) in done.stderr  # the engine's own line: the file is not there
    assert done.returncode == 1


@pytest.mark.skipif(not (ROOT / ".venv" / ".ready-run").exists(), reason="the environment was not made by make")
def test_make_run_alone_is_enough_to_transcribe(tmp_path: Path) -> None:
    spoken = "Good morning, and welcome to the first meeting of the year."
    subprocess.run(["espeak-ng", "-v", "en-us", "-w", tmp_path / "a $b 'c'.mp3", spoken], check=True)
    make = ["make", "-C", ROOT, "--no-print-directory", "run", "FILE=a $b 'c'.mp3"]
    done = run(*make, folder=tmp_path, SOTTOVOCE_DATA=str(tmp_path / "data"))
    assert "welcome" in done.stdout.splitlines()[-1].lower()
    assert done.returncode == 0


def test_without_display_and_file_one_line_says_what_can_be_done(tmp_path: Path) -> None:
    done = run(sys.executable, "-P", RUN, folder=tmp_path)
    assert done.stdout.splitlines() == [
        "There is no display here for a window. To transcribe in the terminal: make run FILE=talk.mp3"
    ]
    assert done.returncode == 0


def test_a_file_is_looked_for_where_make_was_started(
    starter: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "talk.mp3").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FILE", "talk.mp3")
    monkeypatch.setenv("STARTED_IN", str(elsewhere))
    assert starter.recording() == [str(elsewhere / "talk.mp3")]
    monkeypatch.delenv("STARTED_IN")
    assert starter.recording() == [str(tmp_path / "talk.mp3")]
