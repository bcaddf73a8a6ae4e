"""`sottovoce selftest` ends with an answer for every part, whatever is wrong with one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PARTS = ["machine", "processor", "media", "speech", "models", "transcribe"]


def selftest(data: Path, *arguments: str | Path, before: str = "") -> subprocess.CompletedProcess[str]:
    script = f"{before}\nimport sys\nfrom engine.__main__ import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", script, "--data-dir", data, "selftest", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def parts(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.split()[0] for line in done.stdout.splitlines() if line[:1].isalpha()]


def test_a_machine_that_can_transcribe_says_so(data_with_models: Path) -> None:
    done = selftest(data_with_models, "--model", "tiny.en")
    assert (done.returncode, parts(done)) == (0, PARTS), done.stdout + done.stderr
    assert "tiny.en by whispercpp on CPU" in done.stdout


@pytest.mark.parametrize(
    ("before", "part"),
    [
        ("import sys; sys.modules['av'] = None", "media"),
        ("import engine.speech.vad as v\ndef no(): raise OSError('libgomp.so.1')\nv.SpeechDetector = no", "speech"),
    ],
    ids=["a module", "a system library"],
)
def test_a_library_that_is_missing_is_an_answer_and_not_the_end(data_with_models: Path, before: str, part: str) -> None:
    done = selftest(data_with_models, "--model", "tiny.en", before=before)
    assert (done.returncode, parts(done), done.stderr) == (1, PARTS, "")
    assert [line.split()[0] for line in done.stdout.splitlines() if " NO: " in line] == [part]


def test_a_crash_of_the_engine_is_an_answer_too(data_with_models: Path) -> None:
    little = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))"  # the child inherits it
    popen = f"import subprocess, functools\ndef limit():\n  {little}\n"
    popen += "subprocess.Popen = functools.partial(subprocess.Popen, preexec_fn=limit)"
    done = selftest(data_with_models, "--model", "tiny.en", before=popen)
    assert (done.returncode, parts(done)) == (1, PARTS)
    assert "transcribe  NO: The engine stopped unexpectedly." in done.stdout
