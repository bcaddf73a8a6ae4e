"""The Neural Engine as a backend, with a Mac that is not one: its words, its failures, and when `auto` takes it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import _pywhispercpp as cpp
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio.media import open_media
from engine.backends import coreml_runtime, gpu, select, selfcheck, whispercpp
from engine.backends.base import Backend
from engine.backends.reference import reference_recording, words_wrong
from engine.backends.selfcheck import Candidate, Finding, Verdict, circumstances
from engine.coreml.link import linked
from engine.coreml.preparation import Preparation
from engine.coreml.records import State, compiled_of, link_of, turn_off, working_on, write_record
from engine.coreml.step_process import Job, done
from engine.coreml.steps import Figures
from engine.errors import Code, EngineError
from engine.folders import cache_folder, models_folder, state_folder
from engine.graphs.coreml_encoder import CoremlOptions
from engine.models.store import ModelStore, digest_of
from engine.protocol import Loaded, Notice
from engine.types import Options, Segment
from engine.warm_model import WarmModel
from tests.engine.coreml.fake_system import FakeSystem

Samples = NDArray[np.float32]

COREML, METAL, ONNX, CPU = (
    Candidate("coreml", "neural"),
    Candidate("whispercpp", "gpu"),
    Candidate("onnx"),
    Candidate("whispercpp"),
)
ASKED = Options(model="tiny.en", backend="coreml", language="en")
AUTO = replace(ASKED, backend="auto")


class Here:
    """A data folder with tiny.en, whose encoder is ready on a Mac that does what a file says."""

    def __init__(self, data: Path, script: Path) -> None:
        self.data, self._script = data, script
        self.model = ModelStore(models_folder(data)).path("tiny.en")
        self.system = FakeSystem(script)

    def suffers(self, **script: str) -> None:
        self._script.write_text(json.dumps(script))

    def load(self, options: Options) -> select.Choice:
        return select.load_backend(options, self.model, self.data, quiet)

    @property
    def state(self) -> State:
        return select.neural_status(self.model, self.data).state

    @property
    def folder(self) -> Path:
        folder = select.neural_status(self.model, self.data).folder
        assert folder is not None
        return folder

    def remembers(self, options: Options, *findings: Finding) -> None:
        """The self-check was made, and found this."""
        candidates = select.candidates_for(options, self.model, self.data)
        encoder = select.spelt_encoder(select.neural_status(self.model, self.data))
        about = circumstances(candidates, options, self.model, encoder)
        selfcheck._remember(state_folder(self.data), Verdict(about, findings))  # pyright: ignore[reportPrivateUsage]


class InThisProcess:
    """Does the steps of a preparation at once."""

    def __init__(self, system: FakeSystem) -> None:
        self._system = system

    def run(self, job: Job) -> Figures:
        return done(job, self._system)


def quiet(_done: int, _of: int) -> None:
    pass


@pytest.fixture(scope="module")
def prepared(data_with_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder where the encoder of tiny.en is ready."""
    data = tmp_path_factory.mktemp("prepared")
    (data / "models").symlink_to(models_folder(data_with_models), target_is_directory=True)
    system = FakeSystem(data / "script.json")
    model = ModelStore(models_folder(data)).path("tiny.en")
    Preparation(model, digest_of(model), CoremlOptions(), cache_folder(data), system, InThisProcess(system)).run()
    return data


@pytest.fixture
def here(prepared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Here]:
    """The same for each test, whatever the one before did to it; graphs that are built stay."""
    records = {path: path.read_bytes() for path in (cache_folder(prepared) / "coreml").glob("*/coreml.json")}
    there = Here(prepared, tmp_path / "script.json")
    monkeypatch.setattr(coreml_runtime, "SYSTEM", there.system)
    yield there
    for path, data in records.items():
        path.write_bytes(data)
    shutil.rmtree(state_folder(prepared), ignore_errors=True)


@pytest.fixture(scope="module")
def spoken() -> Samples:
    with open_media(reference_recording()) as media:
        return np.concatenate([block.samples for block in media.blocks()])


def heard(backend: Backend, samples: Samples, options: Options = ASKED) -> str:
    (segments,) = backend.decode([samples], options)
    return " ".join(segment.text for segment in segments)


def test_words_come_from_the_neural_engine(here: Here, spoken: Samples) -> None:
    choice = here.load(ASKED)
    assert words_wrong(heard(choice.backend, spoken)) == 0
    assert choice.encoder == here.folder.name
    assert choice.failures == []
    assert "Neural Engine" in choice.backend.device


def test_only_the_decoder_is_loaded_in_onnx_runtime(here: Here, spoken: Samples) -> None:
    backend = here.load(ASKED).backend
    heard(backend, spoken)
    runtime = backend._runtime  # pyright: ignore[reportAttributeAccessIssue]
    assert runtime._encoder is None


@pytest.mark.parametrize("trouble", ["nan", "zeros", "shape", "refuse"])
def test_what_fails_at_work_never_becomes_words(here: Here, spoken: Samples, trouble: str) -> None:
    choice = here.load(ASKED)
    here.suffers(predict=trouble)
    assert words_wrong(heard(choice.backend, spoken)) == 0, "the encoder of ONNX Runtime steps in"
    assert len(choice.failures) == 1
    assert here.state is State.FAILED
    here.suffers()
    with pytest.raises(EngineError) as caught:
        here.load(ASKED)
    assert caught.value.code is Code.BACKEND_MISSING


@pytest.mark.parametrize("script", [{"predict": "other words"}, {"predict": "zeros"}, {"load": "refuse"}], ids=str)
def test_an_encoder_that_gives_other_numbers_is_not_loaded(here: Here, script: dict[str, str]) -> None:
    here.suffers(**script)
    with pytest.raises(EngineError) as caught:
        here.load(ASKED)
    assert caught.value.code is Code.BACKEND_FAILED
    assert here.state is State.FAILED


def test_it_is_said_why_it_cannot_be_had(here: Here) -> None:
    turn_off(cache_folder(here.data), digest_of(here.model))
    with pytest.raises(EngineError, match="turned off"):
        here.load(ASKED)
    here.suffers(unsupported="Core ML is a part of macOS.")
    with pytest.raises(EngineError):
        here.load(ASKED)


def test_auto_compares_what_there_is(here: Here) -> None:
    assert select.candidates_for(AUTO, here.model, here.data) == (COREML, ONNX, CPU)
    assert select.candidates_for(replace(AUTO, device="neural"), here.model, here.data) == (COREML,)
    assert COREML not in select.candidates_for(replace(AUTO, device="cpu"), here.model, here.data)
    here.suffers(build="another")
    assert select.candidates_for(AUTO, here.model, here.data) == (ONNX, CPU)


def test_auto_takes_it_where_it_is_the_fastest(here: Here) -> None:
    here.remembers(AUTO, Finding(COREML, 100), Finding(ONNX, 200), Finding(CPU, 400))
    choice = here.load(AUTO)
    assert choice.backend.name == "coreml"
    assert choice.encoder
    assert choice.reason.startswith("the fastest here: Core ML")


def test_auto_leaves_it_where_it_is_slower_unless_low_power_is_set(here: Here) -> None:
    here.remembers(AUTO, Finding(COREML, 300), Finding(ONNX, 200), Finding(CPU, 400))
    assert here.load(AUTO).backend.name == "onnx"
    choice = here.load(replace(AUTO, low_power=True))
    assert choice.backend.name == "coreml"
    assert "low power" in choice.reason


def test_wrong_words_lose_also_with_low_power(here: Here) -> None:
    here.remembers(AUTO, Finding(COREML, 100, 20, "20 of 23 words wrong"), Finding(ONNX, 200), Finding(CPU, 400))
    choice = here.load(replace(AUTO, low_power=True))
    assert choice.backend.name == "onnx"
    assert "Core ML: 20 of 23 words wrong" in choice.reason


def test_what_cannot_be_loaded_is_one_step_of_the_ladder(here: Here, spoken: Samples) -> None:
    here.remembers(AUTO, Finding(COREML, 100), Finding(ONNX, 200), Finding(CPU, 400))
    here.suffers(load="refuse")
    choice = here.load(AUTO)
    assert choice.backend.name == "whispercpp"
    assert "Core ML could not be loaded" in choice.reason
    assert words_wrong(heard(choice.backend, spoken)) == 0


def test_while_it_is_prepared_something_else_runs_and_says_so(here: Here) -> None:
    record = select.neural_status(here.model, here.data).record
    assert record is not None
    with working_on(here.folder):
        write_record(here.folder, record, State.PREPARING)
        here.remembers(AUTO, Finding(ONNX, 200), Finding(CPU, 400))
        choice = here.load(AUTO)
    assert choice.backend.name == "onnx"
    assert "macOS prepares the Neural Engine" in choice.reason


def test_the_gpu_stands_between_it_and_the_cpu(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "_gpu", lambda _model, _state: select.Verdict(True, "", "1"))
    assert select.candidates_for(AUTO, here.model, here.data) == (COREML, METAL, ONNX, CPU)


def test_a_failure_in_a_running_job_is_told_and_the_job_goes_on(here: Here, spoken: Samples) -> None:
    here.remembers(AUTO, Finding(COREML, 100), Finding(ONNX, 200), Finding(CPU, 400))
    model = WarmModel(here.data)
    loaded = [event for event in model.load(1, AUTO) if isinstance(event, Loaded)]
    assert loaded[-1].encoder
    here.suffers(predict="nan")

    def decode() -> list[list[Segment]]:
        return model.backend.decode([spoken], AUTO)

    events, found = [], list[list[Segment]]()
    run = model.trusted(1, AUTO, decode)
    while True:
        try:
            event = next(run)
        except StopIteration as stop:
            found = stop.value
            break
        events.append(event)
        if isinstance(event, Notice):  # before it is loaded again
            here.remembers(AUTO, Finding(ONNX, 200), Finding(CPU, 400))
    assert words_wrong(" ".join(segment.text for segment in found[0])) == 0
    notices = [event for event in events if isinstance(event, Notice)]
    assert [notice.code for notice in notices] == ["coreml_failed"]
    reloaded = [event for event in events if isinstance(event, Loaded)]
    assert reloaded[-1].backend == "onnx"
    assert not reloaded[-1].encoder
    assert "The Neural Engine is not used" in reloaded[-1].reason


def test_an_engine_that_dies_with_it_twice_runs_without_it(here: Here) -> None:
    loaded = Loaded(1, "tiny.en", "coreml", "", "", 0, 0, encoder=here.folder.name)
    for state in (State.READY, State.OFF):
        gpu.blame(here.data, AUTO, loaded, "It was stopped by signal SIGABRT.")
        assert here.state is state
    assert select.candidates_for(AUTO, here.model, here.data) == (ONNX, CPU)
    assert not (state_folder(here.data) / "gpu.json").exists(), "the GPU is not to blame"


def test_whisper_cpp_finds_the_model_beside_its_encoder(here: Here, tmp_path: Path) -> None:
    model = Path(shutil.copy(here.model, tmp_path / "ggml-x.bin"))
    folder = tmp_path / "key"
    folder.mkdir()
    link = linked(model, folder)
    assert link == link_of(folder)
    assert link.samefile(model)
    assert not link.is_symlink(), "the binding would undo it"
    assert compiled_of(folder).name == link.stem + "-encoder.mlmodelc", "where whisper.cpp looks"
    other = Path(shutil.copy(here.model, tmp_path / "ggml-y.bin"))
    assert linked(other, folder).samefile(other)


def test_a_whisper_cpp_without_core_ml_says_so(here: Here) -> None:
    """As all published builds are: nothing must seem to run on the Neural Engine there."""
    assert not whispercpp.coreml_in_build()
    with pytest.raises(EngineError, match="no Core ML"):
        here.load(replace(ASKED, backend="whispercpp", device="neural"))
    with pytest.raises(EngineError, match="did not load the Core ML encoder"):
        whispercpp.WhisperCpp(here.model, use_gpu=False, threads=1, neural=True)


def test_whisper_cpp_never_shortens_the_spectrum_for_core_ml(
    here: Here, spoken: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Core ML encoder that is given less than 30 s fails silently, and the words are "[Music]"."""
    seen: list[int] = []

    def full(_context: object, parameters: Any, _audio: Samples, _length: int) -> int:
        seen.append(parameters.audio_ctx)
        return 1

    monkeypatch.setattr(whispercpp, "_COREML_LOADED", "whisper_init")  # as if it had said so
    backends = [whispercpp.WhisperCpp(here.model, use_gpu=False, threads=1, neural=neural) for neural in (True, False)]
    monkeypatch.setattr(cpp, "whisper_full", full)
    for backend in backends:
        with pytest.raises(EngineError):
            backend.draft(spoken[:48_000], ASKED)
        with pytest.raises(EngineError):
            backend.decode([spoken[:48_000]], ASKED)
    assert seen[0] == seen[1] == seen[3] == 0
    assert seen[2] > 0, "this could not fail"
