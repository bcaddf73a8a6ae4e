"""whisper.cpp gets every option as it was meant, and says what it took."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

import numpy as np
import pytest

from engine.backends import gpu, whispercpp
from engine.backends.cpu import missing_instructions, physical_cores, threads_for
from engine.backends.whispercpp import WhisperCpp, parameter_values, parameters_for
from engine.errors import Code, EngineError
from engine.folders import models_folder
from engine.models.store import ModelStore
from engine.types import Options
from tests.engine.small_models import Small

NOTHING = Options(language="en", prompt="", temperature=0.0, vad=False, words=False, beam=1)
EVERYTHING = Options(language="de", prompt="Grüße, Köln", temperature=0.4, task="translate", beam=5, threads=3)


@pytest.fixture(scope="module")
def tiny(data_with_models: Path) -> Path:
    return ModelStore(models_folder(data_with_models)).path("tiny.en")


@pytest.mark.parametrize("options", [NOTHING, EVERYTHING], ids=["nothing", "everything"])
def test_every_option_arrives_also_zero_false_and_empty(options: Options) -> None:
    parameters = parameters_for(options, threads=3)
    for name, value in parameter_values(options, threads=3).items():
        arrived = getattr(parameters, name)
        assert arrived == (pytest.approx(value) if isinstance(value, float) else value), name


def test_options_are_what_whispercpp_is_told() -> None:
    values = parameter_values(EVERYTHING, threads=3)
    assert (values["language"], values["translate"], values["temperature"]) == ("de", True, 0.4)
    assert (values["initial_prompt"], values["n_threads"]) == ("Grüße, Köln", 3)
    assert values["beam_search"]["beam_size"] == 5


def test_audio_of_fifty_milliseconds_is_one_window_and_no_error(tiny: Path) -> None:
    backend = WhisperCpp(tiny, use_gpu=False, threads=1)
    assert len(backend.decode([np.zeros(800, np.float32)], NOTHING)) == 1
    backend.close()


def test_a_language_that_whispercpp_does_not_know_is_an_error(tiny: Path) -> None:
    backend = WhisperCpp(tiny, use_gpu=False, threads=1)
    with pytest.raises(EngineError) as caught:
        backend.decode([np.zeros(16_000, np.float32)], Options(language="xx"))
    backend.close()
    assert caught.value.code is Code.BACKEND_FAILED


def test_a_float32_model_is_refused_before_whispercpp_aborts_and_onnx_is_named(small: Small, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        WhisperCpp(small.write(tmp_path / "f32.bin", 0), use_gpu=False, threads=1)
    assert caught.value.code is Code.MODEL_CANNOT
    assert "--backend onnx" in str(caught.value)


def test_buffers_and_device_are_read_from_the_log(tiny: Path) -> None:
    backend = WhisperCpp(tiny, use_gpu=True, threads=1)
    buffers = backend.buffers()
    backend.close()
    assert {"weights", "self KV", "cross KV", "compute (encode)"} <= buffers.keys()
    assert backend.device.startswith("CPU: no GPU in this build")
    assert not backend.gpu


def test_metal_is_named_when_ggml_takes_it() -> None:
    log = deque(["whisper_backend_init_gpu: using MTL0 backend\n"])
    assert whispercpp._device_in(log, use_gpu=True) == ("Metal", True)


def test_the_processor_of_this_machine_is_new_enough() -> None:
    assert missing_instructions() == ()
    assert physical_cores() >= 1


def test_nobody_gets_more_threads_than_there_are_processors() -> None:
    assert threads_for(0) == physical_cores()
    assert threads_for(1) == 1
    assert threads_for(9_999) <= (os.cpu_count() or 1)


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-user shows an old processor; it is not installed")
@pytest.mark.parametrize(("model", "missing"), [("SandyBridge", "AVX2"), ("Haswell", "none")])
def test_an_old_processor_is_told_before_anything_dies(model: str, missing: str) -> None:
    script = "from engine.backends.cpu import missing_instructions as m; print(' '.join(m()) or 'none')"
    found = subprocess.run(
        ["qemu-x86_64", "-cpu", model, sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert missing in found.stdout


def test_a_gpu_that_kills_its_trial_is_remembered_and_can_be_forgotten(tmp_path: Path) -> None:
    dies = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"]
    trials: list[Path] = []

    def probe(model: Path) -> CompletedProcess[bytes]:
        trials.append(model)
        return subprocess.run(dies, capture_output=True, check=False)

    for _ in range(2):
        verdict = gpu.gpu_verdict(tmp_path, Path("model"), probe)
        assert not verdict.works
        assert "SIGSEGV" in verdict.detail
    assert len(trials) == 1
    gpu.forget(tmp_path)
    assert gpu.remembered(tmp_path, Path("model")) is None


def test_a_gpu_that_never_answers_is_not_used(tmp_path: Path) -> None:
    def probe(_model: Path) -> CompletedProcess[bytes]:
        raise TimeoutExpired("probe", gpu.PROBE_SECONDS)

    assert not gpu.gpu_verdict(tmp_path, Path("model"), probe).works


def test_a_gpu_that_works_is_used(tmp_path: Path) -> None:
    verdict = gpu.gpu_verdict(tmp_path, Path("model"), lambda _model: CompletedProcess([], 0))
    assert verdict.works


def test_a_verdict_is_about_one_model_of_one_size(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"1")
    large.write_bytes(b"22")
    assert gpu.gpu_verdict(tmp_path, small, lambda _model: CompletedProcess([], 0)).works
    assert not gpu.gpu_verdict(tmp_path, large, lambda _model: CompletedProcess([], 1)).works
    found = [gpu.remembered(tmp_path, model) for model in (small, large)]
    assert [verdict.works for verdict in found if verdict] == [True, False]
    small.write_bytes(b"333")
    assert gpu.remembered(tmp_path, small) is None


def test_the_trial_of_a_build_without_gpu_fails_in_words(tiny: Path) -> None:
    assert gpu.run_probe(tiny).returncode == 1
