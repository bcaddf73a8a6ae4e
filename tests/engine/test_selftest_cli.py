"""`sottovoce selftest` ends with an answer for every part, whatever is wrong with one of them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from engine import versions
from engine.folders import state_folder

PARTS = ["machine", "processor", "media", "speech", "runtimes", "models", "transcribe", "backends"]


def selftest(data: Path, *arguments: str | Path, before: str = "") -> subprocess.CompletedProcess[str]:
    script = f"{before}\nimport sys\nfrom engine.__main__ import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", script, "--data-dir", data, "selftest", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def parts(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.split()[0] for line in done.stdout.splitlines() if line[:1].isalpha()]


def test_a_machine_that_can_transcribe_says_so(data_with_models: Path) -> None:
    done = selftest(data_with_models, "--model", "tiny.en")
    assert (done.returncode, parts(done)) == (0, PARTS), done.stdout + done.stderr
    assert re.search(r"tiny\.en by (onnx|whispercpp) on CPU .*\(.* × real time.*\), loaded in ", done.stdout)


def test_every_backend_has_a_line_with_its_figures(data_with_models: Path) -> None:
    first = selftest(data_with_models, "--model", "tiny.en").stdout
    onnx, whispercpp = first[first.index("backends") + len("backends") :].splitlines()
    assert re.search(r"^ +onnx +\d+\.\d\d s, \d[\d.]* × real time, 2[23] of 23 words right$", onnx)
    assert whispercpp.split()[0] == "whisper.cpp"


def test_what_was_found_stands_until_it_is_to_be_checked_again(data_with_models: Path) -> None:
    verdicts = state_folder(data_with_models) / "selfcheck.json"

    def found(*arguments: str) -> bytes:
        assert selftest(data_with_models, "--model", "tiny.en", *arguments).returncode == 0
        return verdicts.read_bytes()

    first = found()
    assert found() == first
    assert found("--again") != first, "other figures"


def test_the_runtimes_are_named_and_how_to_get_the_one_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"ONNX Runtime [\d.]+, whisper\.cpp \(pywhispercpp [\d.]+\), tract [\d.]+", versions.runtimes())

    def without_tract(name: str) -> str:
        if name == "tract":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(versions, "version", without_tract)
    assert versions.runtimes().endswith("tract is not installed (pip install 'tract>=0.23,<0.24')")


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
    soon = "import signal; signal.setitimer(signal.ITIMER_REAL, 0.3)"  # the child inherits it, and dies of it
    popen = f"import subprocess, functools\ndef limit():\n  {soon}\n"
    popen += "subprocess.Popen = functools.partial(subprocess.Popen, preexec_fn=limit)"
    done = selftest(data_with_models, "--model", "tiny.en", before=popen)
    assert (done.returncode, parts(done)) == (1, PARTS)
    assert "transcribe  NO: The engine stopped unexpectedly." in done.stdout
