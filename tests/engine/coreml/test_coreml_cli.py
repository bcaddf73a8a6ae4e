"""`sottovoce coreml …` as it is typed, on a computer that is no Mac: what it prints, and its exit codes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="a Mac goes on where others stop")

Run = Callable[..., tuple[str, str]]


@pytest.fixture
def coreml(small_file: Path, tmp_path: Path) -> Run:
    """Runs a verb in a data folder of an awkward name, with the model `small`."""
    data = tmp_path / "Dätä ☃"
    (data / "models").mkdir(parents=True)
    shutil.copy(small_file, data / "models" / "ggml-small-one.bin")

    def run(*words: str, code: int = 0) -> tuple[str, str]:
        command = [sys.executable, "-P", "-m", "engine", "--data-dir", data, "coreml", *words]
        ran = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env={**os.environ})
        assert ran.returncode == code, ran.stderr.decode()
        assert b"Traceback" not in ran.stderr
        return ran.stdout.decode(), ran.stderr.decode()

    return run


def test_it_is_built_checked_shown_turned_off_and_removed(coreml: Run) -> None:
    assert "Core ML is a part of macOS." in coreml("status", "small-one")[0]
    out, told = coreml("build", "small-one", "--parts", "2", "--int8")
    assert told == "The encoder for the Neural Engine is being written.\n"
    assert out.startswith("The encoder for the Neural Engine is written, but not compiled. That took ")
    assert "sottovoce coreml check small-one" in out
    assert "package MB" in out
    out, told = coreml("check", "small-one")
    assert "compared with a plain one" in told
    assert "proof psnr" in out
    assert "proof psnr" in coreml("status", "small-one")[0]
    assert "To turn it on: sottovoce coreml build small-one" in coreml("off", "small-one")[0]
    assert "You turned it off." in coreml("status", "small-one")[0]
    assert "were removed" in coreml("remove", "small-one")[0]
    assert "Core ML is a part of macOS." in coreml("status", "small-one")[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "small-one"], "There is no encoder yet: sottovoce coreml build small-one"),
        (["off", "small-one"], "There is no encoder to turn off."),
        (["build", "nothing"], "No model has this name."),
        (["build", "small-one", "--parts", "0"], "--parts is 1 or more."),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_what_cannot_be_done_is_said_in_a_line(coreml: Run, words: list[str], said: str) -> None:
    out, told = coreml(*words, code=1)
    assert out == ""
    assert told.startswith("sottovoce coreml: ")
    assert told.count("\n") == 1
    assert said in told


def test_a_file_that_is_no_model_is_refused(coreml: Run, tmp_path: Path) -> None:
    (tmp_path / "text.bin").write_text("no model")
    assert "The model file is damaged or not a Whisper model." in coreml("build", str(tmp_path / "text.bin"), code=1)[1]
