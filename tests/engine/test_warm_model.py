"""What is loaded for which options, and what is refused before anything is loaded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.backends import fake, gpu
from engine.errors import Code, EngineError
from engine.folders import state_folder
from engine.models.whisper_layout import Hyperparameters
from engine.protocol import Event, Loaded, Notice
from engine.types import Options
from engine.warm_model import WarmModel
from tests.engine.small_models import Small

FAKE = Options(backend="fake")


def loaded(events: list[Event]) -> Loaded:
    (found,) = [event for event in events if isinstance(event, Loaded)]
    return found


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fake.VARIABLE, json.dumps({"gpu": True}))


@pytest.mark.usefixtures("with_gpu")
def test_a_gpu_that_passes_its_trial_is_used_unless_the_cpu_is_asked_for(tmp_path: Path) -> None:
    warm = WarmModel(tmp_path)
    assert loaded(list(warm.load(1, FAKE))).gpu
    assert not loaded(list(warm.load(1, replace(FAKE, device="cpu")))).gpu


@pytest.mark.usefixtures("with_gpu")
def test_a_gpu_that_computed_nonsense_is_not_used_by_the_next_file_nor_the_next_process(tmp_path: Path) -> None:
    warm = WarmModel(tmp_path)
    list(warm.load(1, FAKE))
    assert not loaded(list(warm.fall_back_to_cpu(1, FAKE, "It gave nonsense."))).gpu
    for later in (warm, WarmModel(tmp_path)):
        events = list(later.load(2, FAKE))
        assert not loaded(events).gpu
        assert Notice(2, "gpu_failed", "It gave nonsense.") in events
    gpu.forget(state_folder(tmp_path))
    assert loaded(list(WarmModel(tmp_path).load(3, FAKE))).gpu


@pytest.mark.parametrize("text_layers", [1, 2], ids=["turbo", "whole"])
def test_a_model_file_that_cannot_translate_is_refused_whatever_its_name(tmp_path: Path, text_layers: int) -> None:
    sizes = Hyperparameters(51865, 1500, 64, 1, 2, 448, 64, 1, text_layers, 80, 2)
    file = Small(sizes).write(tmp_path / "mine.bin")
    asked = Options(model=str(file), task="translate", backend="nothing", language="de")
    with pytest.raises(EngineError) as caught:
        list(WarmModel(tmp_path).load(1, asked))
    assert caught.value.code is (Code.MODEL_CANNOT if text_layers == 1 else Code.BACKEND_MISSING)
