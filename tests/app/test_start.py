"""Where the words of the command line go, and what is not loaded for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import main

LOADED = """
import json, sys
from app.__main__ import main
try:
    code = main(sys.argv[1:])
except SystemExit as exit:
    code = exit.code
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def loaded_by(*words: str, **variables: str) -> tuple[int, set[str]]:
    """Exit code of a start with these words, and the packages it has loaded."""
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | variables,
    )
    code, modules = json.loads(ended.stdout.splitlines()[-1])
    return code, set(modules)


@pytest.mark.parametrize("words", [["models", "list"], ["--data-dir", "{data}", "models", "list"]])
def test_a_verb_goes_to_the_engine_without_qt(tmp_path: Path, words: list[str]) -> None:
    code, modules = loaded_by(*(word.format(data=tmp_path) for word in words), SOTTOVOCE_DATA=str(tmp_path))
    assert code == 0
    assert "PySide6" not in modules


def test_the_version_is_told_without_qt() -> None:
    code, modules = loaded_by("--version")
    assert code == 0
    assert "PySide6" not in modules


def test_without_a_display_one_line_says_so(tmp_path: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    bare |= {"QT_QPA_PLATFORM": "", "SOTTOVOCE_DATA": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", "app", "talk.wav"], capture_output=True, text=True, check=False, env=bare
    )
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert "sottovoce transcribe FILE" in ended.stderr


def test_a_wrong_option_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--no-such-option"])
    assert ended.value.code == 2
    assert "usage: sottovoce" in capsys.readouterr().err


def test_a_data_folder_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    started = subprocess.run(
        [sys.executable, "-P", "-m", "app", "--data-dir", tmp_path / "file"],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert started.returncode == 1
    assert "cannot be written" in started.stderr
    assert "Traceback" not in started.stderr
