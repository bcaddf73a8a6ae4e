"""`--backend auto`: each backend transcribes a known text, once; the fastest that gets the words right is taken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from engine.audio.media import open_media
from engine.backends import cpu, fake, gpu, select, selfcheck
from engine.backends.reference import LENGTH_MS, reference_recording, reference_words, words_wrong
from engine.backends.selfcheck import Candidate, Finding, Verdict, circumstances, remembered, verdict_on
from engine.errors import Code, EngineError
from engine.folders import models_folder, state_folder
from engine.models.store import ModelStore
from engine.models.whisper_layout import Hyperparameters
from engine.protocol import Event, Loaded, Progress, Transcribe, encode
from engine.types import SAMPLES_PER_MS, Options
from engine.warm_model import WarmModel
from tests.engine.small_models import Small

TINY = Options(model="tiny.en")
FAKE, ONNX, WHISPERCPP = Candidate("fake"), Candidate("onnx"), Candidate("whispercpp")
RIGHT = "Yesterday the weather was warm, and we walked along the river with the children. "
RIGHT += "They were happy, and nobody wanted to go home."


@pytest.fixture(scope="module")
def data(data_with_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the models and the graphs of all tests here; what is checked is forgotten before each."""
    data = tmp_path_factory.mktemp("checked")
    (data / "models").symlink_to(models_folder(data_with_models), target_is_directory=True)
    return data


@pytest.fixture
def tiny(data: Path) -> Path:
    selfcheck.forget(state_folder(data))
    return ModelStore(models_folder(data)).path("tiny.en")


@pytest.fixture
def no_check(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on no check can be made."""

    def forbid(_data: Path) -> None:
        raise AssertionError("a check was made")

    return lambda: monkeypatch.setattr(selfcheck, "EngineProcess", forbid)


def quiet(_done: int, _of: int) -> None:
    """Nobody is told how far a check is."""


def scripted(monkeypatch: pytest.MonkeyPatch, **script: object) -> None:
    monkeypatch.setenv(fake.VARIABLE, json.dumps(script))


def findings(model: Path, data: Path, *candidates: Candidate) -> list[Finding]:
    return list(verdict_on(candidates, TINY, model, data, quiet).findings)


def loaded(events: list[Event]) -> Loaded:
    (found,) = [event for event in events if isinstance(event, Loaded)]
    return found


def finding(candidate: Candidate, ms: int | None, trouble: str = "", code: Code | None = None) -> Finding:
    return Finding(candidate, ms, 0, trouble, code)


def verdict(tiny: Path, *found: Finding) -> Verdict:
    return Verdict(circumstances([f.candidate for f in found], TINY, tiny), found)


def test_the_recording_is_what_its_text_says_and_as_long_and_small() -> None:
    with open_media(reference_recording()) as media:
        samples = sum(len(block.samples) for block in media.blocks())
    assert abs(samples / SAMPLES_PER_MS - LENGTH_MS) < 1
    assert reference_recording().stat().st_size < 150_000
    assert words_wrong(RIGHT) == 0
    assert len(reference_words()) == 23


@pytest.mark.parametrize(
    ("heard", "wrong"),
    [
        (RIGHT.upper().replace(",", "").replace(". ", " – "), 0),
        (RIGHT.replace("warm", "cold").replace("the children", "children"), 2),
        (RIGHT + " Thanks for watching!", 3),
        ("", 23),
    ],
    ids=["other letters", "two", "too many", "none"],
)
def test_wrong_missing_and_additional_words_are_counted(heard: str, wrong: int) -> None:
    assert words_wrong(heard) == wrong


def test_both_backends_pass_with_the_words_and_the_faster_one_is_taken_and_said(data: Path, tiny: Path) -> None:
    warm = WarmModel(data)
    events = list(warm.load(1, TINY))
    warm.close()
    found = remembered(state_folder(data), circumstances((ONNX, WHISPERCPP), TINY, tiny))
    assert found is not None
    assert found.best is not None
    passed = [f for f in found.findings if not f.trouble]
    assert all(f.wrong <= 1 for f in passed)
    assert found.best.speed == max(f.speed for f in passed)
    assert (loaded(events).backend, loaded(events).reason) == (found.best.candidate.backend, str(found))
    assert "× real time" in loaded(events).reason
    assert [event for event in events if isinstance(event, Progress)], "nobody must take it for a hang"


@pytest.mark.parametrize("candidate", [ONNX, WHISPERCPP], ids=str)
@pytest.mark.parametrize("model", ["tiny.en", "base"])
def test_every_backend_gets_the_words_with_either_kind_of_model(
    data: Path, monkeypatch: pytest.MonkeyPatch, model: str, candidate: Candidate
) -> None:
    monkeypatch.setattr(selfcheck, "LIMIT_MS", 60_000)  # the words are meant, however busy the machine is
    file = ModelStore(models_folder(data)).path(model)
    (found,) = verdict_on((candidate,), TINY, file, data, quiet).findings
    assert (found.wrong, found.trouble) == (0, "")
    assert found.ms is not None


def test_a_check_is_made_once(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, no_check: Callable[[], None]
) -> None:
    scripted(monkeypatch, text=RIGHT)
    first = verdict_on((FAKE,), TINY, tiny, data, quiet)
    no_check()
    assert verdict_on((FAKE,), TINY, tiny, data, quiet) == first
    selfcheck.forget(state_folder(data))
    with pytest.raises(AssertionError, match="a check was made"):
        verdict_on((FAKE,), TINY, tiny, data, quiet)


def test_another_model_version_machine_or_choice_asks_again(
    data: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_folder(data)
    selfcheck._remember(state, verdict(tiny, finding(ONNX, 400), finding(WHISPERCPP, 1_400)))
    both = (ONNX, WHISPERCPP)

    def known(options: Options = TINY, model: Path = tiny, candidates: tuple[Candidate, ...] = both) -> bool:
        return remembered(state, circumstances(candidates, options, model)) is not None

    assert known()
    other = tmp_path / tiny.name
    shutil.copy(tiny, other)
    assert not known(model=other), "a file of this name and size, but of another time"
    assert not known(replace(TINY, precision="fp32"))
    assert not known(candidates=(Candidate("whispercpp", "gpu"), *both))
    monkeypatch.setattr(selfcheck, "version", lambda _package: "9.9")
    assert not known()
    monkeypatch.undo()
    monkeypatch.setattr(selfcheck, "machine", lambda: "another")
    assert not known()
    monkeypatch.undo()
    assert known()


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        ({"die": "SIGSEGV"}, "stopped by signal SIGSEGV"),
        ({"die": "exit"}, "ended with code 1"),
        ({"die": "error"}, "as the script says"),
        ({"die": "SIGABRT", "die_at": -1}, "stopped by signal SIGABRT"),
        ({}, "words wrong"),
        ({"text": ""}, "23 of 23 words wrong"),
    ],
    ids=["crash", "end", "error", "crash while loading", "other words", "no words"],
)
def test_who_crashes_or_says_other_words_is_out(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, script: dict[str, object], trouble: str
) -> None:
    scripted(monkeypatch, **script)
    found = verdict_on((FAKE, ONNX), TINY, tiny, data, quiet)
    assert found.best is not None
    assert found.best.candidate == ONNX
    assert trouble in found.findings[0].trouble
    assert trouble in str(found)


def test_the_fastest_of_those_who_are_right_wins(data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, text=RIGHT)
    found = verdict_on((ONNX, FAKE), TINY, tiny, data, quiet)
    assert found.best is not None
    assert found.best.candidate == FAKE
    assert str(found).startswith("the fastest here: fake ")


def test_who_takes_longer_than_the_limit_is_out_and_what_comes_after_it_is_not_tried(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, text=RIGHT, window_ms=60_000)
    monkeypatch.setattr(selfcheck, "LIMIT_MS", 1_000)
    began = time.monotonic()
    slow, late = findings(tiny, data, FAKE, ONNX)
    assert time.monotonic() - began < 20
    assert slow.trouble == "slower than 8.4 × real time"
    assert late.trouble == "no time was left to try it"
    assert remembered(state_folder(data), circumstances((FAKE, ONNX), TINY, tiny)) is None, (
        "next time it may be quicker"
    )


def test_once_one_has_passed_nobody_waits_for_who_has_lost(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, text=RIGHT, window_ms=60_000)
    monkeypatch.setattr(selfcheck, "_TO_LOSE_MS", 500)
    fast, slow = findings(tiny, data, ONNX, FAKE)
    assert not fast.trouble
    assert slow.trouble.startswith("slower than ")
    assert remembered(state_folder(data), circumstances((ONNX, FAKE), TINY, tiny)) is not None


def test_what_may_be_over_the_next_time_is_not_remembered(tiny: Path) -> None:
    full = finding(ONNX, None, "The disk is full.", Code.DISK_FULL)
    dead = finding(ONNX, None, "It was stopped by signal SIGSEGV.", Code.ENGINE_DIED)
    wrong = finding(ONNX, 500, "9 of 23 words wrong")
    right = finding(WHISPERCPP, 1_400)
    assert verdict(tiny, dead, right).lasting
    assert verdict(tiny, wrong).lasting
    assert not verdict(tiny, full, right).lasting
    assert not verdict(tiny, dead, replace(dead, candidate=WHISPERCPP)).lasting


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"{}", b'[{"about": 1}]', b"[null]"])
def test_a_damaged_verdict_file_is_made_anew(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    scripted(monkeypatch, text=RIGHT)
    (state_folder(data) / "selfcheck.json").write_bytes(content)
    found = verdict_on((FAKE,), TINY, tiny, data, quiet)
    assert remembered(state_folder(data), found.about) == found


def test_figures_are_told_in_words(tiny: Path) -> None:
    right, slow = finding(ONNX, LENGTH_MS // 38), finding(WHISPERCPP, LENGTH_MS // 9)
    wrong = finding(WHISPERCPP, 400, "9 of 23 words wrong")
    assert str(verdict(tiny, slow, right)) == "the fastest here: onnx 38 × real time, whisper.cpp 9.0 ×"
    assert str(verdict(tiny, right, wrong)) == (
        "the fastest here: onnx 38 × real time; whisper.cpp: 9 of 23 words wrong"
    )
    assert str(verdict(tiny, wrong)) == "nothing passed the self-check; whisper.cpp: 9 of 23 words wrong"
    assert str(Candidate("whispercpp", "gpu")) == "whisper.cpp on the GPU"


def test_when_nothing_passes_whispercpp_runs_as_ever_and_says_so(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selfcheck, "_MOST_WRONG", -1)
    choice = select.load_backend(TINY, tiny, data, quiet)
    choice.backend.close()
    assert choice.backend.name == "whispercpp"
    assert choice.reason.startswith("nothing passed the self-check; onnx: 0 of 23 words wrong")


def test_a_missing_recording_is_no_reason_not_to_transcribe(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise FileNotFoundError("reference.flac")

    monkeypatch.setattr(selfcheck, "reference_recording", missing)
    choice = select.load_backend(TINY, tiny, data, quiet)
    choice.backend.close()
    assert choice.backend.name == "whispercpp"
    assert "reference.flac" in choice.reason


def test_a_chosen_backend_that_cannot_be_loaded_any_more_leaves_it_to_whispercpp(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selfcheck._remember(state_folder(data), verdict(tiny, finding(ONNX, 400), finding(WHISPERCPP, 1_400)))

    def full(*_given: object) -> None:
        raise EngineError(Code.DISK_FULL, "cache")

    monkeypatch.setattr(select, "_onnx", full)
    choice = select.load_backend(TINY, tiny, data, quiet)
    choice.backend.close()
    assert (choice.backend.name, choice.reason) == ("whispercpp", "onnx could not be loaded: The disk is full. cache")


@pytest.mark.parametrize("backend", ["onnx", "whispercpp"])
def test_who_is_asked_for_runs_without_a_check(
    data: Path, tiny: Path, no_check: Callable[[], None], backend: str
) -> None:
    no_check()
    selfcheck._remember(state_folder(data), verdict(tiny, finding(ONNX, 400), finding(WHISPERCPP, 1_400)))
    choice = select.load_backend(replace(TINY, backend=backend), tiny, data, quiet)
    choice.backend.close()
    assert (choice.backend.name, choice.reason) == (backend, "asked for")


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if whisper.cpp were built for a GPU that passes its trial."""
    monkeypatch.setattr(select, "_gpu", lambda _model, _state: gpu.Verdict(True, "", ""))


@pytest.mark.usefixtures("with_gpu")
def test_a_gpu_that_passed_its_trial_is_a_candidate_and_the_only_one_when_it_is_asked_for(
    data: Path, tiny: Path
) -> None:
    on_gpu = Candidate("whispercpp", "gpu")
    assert select.candidates_for(TINY, tiny, data) == (on_gpu, ONNX, WHISPERCPP)
    assert select.candidates_for(replace(TINY, device="gpu"), tiny, data) == (on_gpu,)
    assert select.candidates_for(replace(TINY, device="cpu"), tiny, data) == (ONNX, WHISPERCPP)


def test_without_whispercpp_onnx_takes_over_and_says_why(
    data: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, no_check: Callable[[], None]
) -> None:
    no_check()
    monkeypatch.setitem(sys.modules, "engine.backends.whispercpp", None)
    choice = select.load_backend(TINY, tiny, data, quiet)
    assert choice.backend.name == "onnx"
    assert choice.reason.startswith("whisper.cpp is not available: ")


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-user shows an old processor; it is not installed")
def test_on_a_processor_without_avx2_onnx_takes_over_and_runs(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from engine.backends.select import load_backend\n"
        "from engine.types import Options\n"
        "choice = load_backend(Options(threads=1), Path(sys.argv[1]), Path(sys.argv[2]), lambda done, of: None)\n"
        "code, probability = choice.backend.detect_language(np.ones(1_600, np.float32))\n"
        "print(choice.backend.name, 0 < probability < 1, '_pywhispercpp' in sys.modules)\n"
        "print(choice.reason)\n"
    )
    file = Small(Hyperparameters(51865, 1500, 64, 1, 1, 448, 64, 1, 1, 80, 2)).write(tmp_path / "small.bin")
    command = ["qemu-x86_64", "-cpu", "SandyBridge", sys.executable, "-c", script, file, tmp_path]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert said.splitlines() == [
        "onnx True False",
        "whisper.cpp is not available: this processor has no AVX2, FMA3, F16C",
    ]


def test_a_worker_that_is_killed_in_its_self_check_leaves_nobody_behind(
    data: Path, tiny: Path, speak: Callable[..., Path]
) -> None:
    command = [sys.executable, "-P", "-m", "engine", "--data-dir", data, "worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        assert worker.stdin is not None
        worker.stdin.write(encode(Transcribe(1, os.fsencode(speak("Good morning.")), TINY)))
        worker.stdin.flush()
        children, until = list[psutil.Process](), time.monotonic() + 60
        while not children and time.monotonic() < until:
            children = psutil.Process(worker.pid).children()
            time.sleep(0.05)
        worker.kill()
    assert children
    assert psutil.wait_procs(children, timeout=20)[1] == []


def test_the_machine_is_known_by_its_processor_and_its_instructions() -> None:
    assert cpu.machine() == cpu.machine()
    assert len(cpu.machine()) > 10
