"""From a model to a ready encoder, and every way in which that goes wrong: the right state, the right sentence."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.coreml import preparation, records
from engine.coreml.preparation import encoder_key
from engine.coreml.records import (
    BUILDER,
    State,
    compiled_of,
    condemn_encoder,
    count_death,
    expected_of,
    package_of,
    read_record,
    remove_encoders,
    turn_off,
    working_on,
)
from engine.coreml.step_process import StepDiedError
from engine.coreml.steps import Step
from engine.errors import Code, EngineError
from engine.graphs.coreml_encoder import CoremlOptions
from engine.graphs.coreml_package import write_package
from engine.models.ggml import read_model
from tests.engine.coreml.conftest import ROOT, SHA, Mac
from tests.engine.small_models import Small

SOON = 60.0  # seconds until which something must have happened


def failure(mac: Mac, limits: dict[Step, float] | None = None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        mac.prepare(limits)
    return caught.value


def test_all_goes_well(mac: Mac) -> None:
    folder, record = mac.prepare()
    assert record.state is State.READY
    assert mac.told == [
        State.BUILDING, State.BUILDING, State.COMPILING, State.PREPARING, State.CHECKING, State.READY,
    ]  # fmt: skip
    assert record.figures["check psnr"] > 60
    assert record.figures["neural share"] == 0.97
    assert record.figures["encode ms"] > 0
    assert not package_of(folder).exists(), "as large as the compiled one"
    assert compiled_of(folder).is_dir()
    assert np.load(expected_of(folder)).shape == (1500, 64)
    assert mac.status().state is State.READY


def test_what_is_ready_is_not_built_again(ready: Mac) -> None:
    mac = ready
    mac.prepare()
    assert mac.told == [State.PREPARING, State.CHECKING, State.READY]


def test_where_there_is_no_mac_it_is_built_and_proved(built: Mac) -> None:
    built.suffers(unsupported="Core ML is a part of macOS.")
    status = built.status()
    assert status.state is State.BUILT
    assert status.folder is not None
    assert status.record is not None
    assert status.record.proved
    assert status.record.figures["proof psnr"] > 60
    assert package_of(status.folder).is_dir()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"compile": "refuse"}, "E5RT"),
        ({"compile": "full"}, "The disk is full."),
        ({"compile": "die"}, "SIGSEGV"),
        ({"compile": "bug"}, "nobody thought of this"),
        ({"load": "refuse"}, "E5RT"),
        ({"load": "abort"}, "SIGABRT"),
        ({"predict": "nan"}, "no numbers"),
        ({"predict": "zeros"}, "other numbers than it should"),
        ({"predict": "shape"}, "(1, 750, 64)"),
        ({"predict": "other words"}, "other numbers than it should"),
    ],
    ids=str,
)
def test_whatever_fails_is_said(built: Mac, script: dict[str, str], said: str) -> None:
    built.suffers(**script)
    assert said in str(failure(built))
    status = built.status()
    assert status.state is State.FAILED
    assert said in status.reason


def test_what_gave_wrong_numbers_is_made_anew(built: Mac) -> None:
    built.suffers(predict="zeros")
    failure(built)
    built.suffers()
    built.told.clear()
    assert built.prepare()[1].state is State.READY
    assert built.told[0] is State.BUILDING


def test_what_died_is_only_tried_again(built: Mac) -> None:
    built.suffers(load="die")
    failure(built)
    built.suffers()
    built.told.clear()
    assert built.prepare()[1].state is State.READY
    assert built.told == [State.PREPARING, State.CHECKING, State.READY]


def test_without_memory_it_does_not_begin(mac: Mac) -> None:
    mac.suffers(memory="1000000")
    assert failure(mac).code is Code.OUT_OF_MEMORY
    status = mac.status()
    assert status.state is State.FAILED
    assert "There is not enough memory for this model." in status.reason
    assert status.folder is not None
    assert not package_of(status.folder).exists()


@pytest.mark.parametrize(
    ("script", "limits", "advice"),
    [({"compile": "hang"}, {Step.COMPILE: 2}, ""), ({"load": "hang"}, {Step.PREPARE: 2}, "--parts 4")],
    ids=str,
)
def test_what_hangs_is_ended(built: Mac, script: dict[str, str], limits: dict[Step, float], advice: str) -> None:
    built.suffers(**script)
    error = failure(built, limits)
    assert isinstance(error, StepDiedError)
    assert error.code is Code.ENGINE_HUNG
    status = built.status()
    assert status.state is State.FAILED
    assert "within 2 s" in status.reason
    assert advice in status.reason
    with pytest.raises(ProcessLookupError):
        os.kill(built.last_step, 0)


def test_a_program_that_is_another_is_never_offered(built: Mac, small: Small, tmp_path: Path) -> None:
    """The proof: a package with other weights under this model's name."""
    folder = built.status().folder
    assert folder is not None
    shutil.rmtree(package_of(folder))
    other = read_model(small.write(tmp_path / "other.bin", 1, seed=5))
    write_package(other, CoremlOptions(), package_of(folder))
    with pytest.raises(EngineError, match="other numbers"):
        built.preparation().check(folder)
    assert built.status().state is State.FAILED


@pytest.mark.parametrize("script", [{"compile": "hang"}, {"load": "hang"}, {"predict": "hang"}], ids=str)
def test_killed_at_any_step_it_goes_on_from_there(built: Mac, script: dict[str, str]) -> None:
    mac = built
    mac.suffers(**script)
    process = start(mac)
    hung = int(waited_for(mac.script.with_suffix(".hangs")))
    assert mac.status().state in {State.COMPILING, State.PREPARING}
    with pytest.raises(EngineError) as busy:
        mac.prepare()
    assert busy.value.code is Code.MODEL_BUSY
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert is_gone(hung), "the step outlives its parent"
    status = mac.status()
    assert status.state is State.ABSENT
    assert "interrupted" in status.reason
    mac.suffers()
    assert mac.prepare()[1].state is State.READY
    assert mac.told.count(State.BUILDING) == 0, "what was built and proved was made again"


def test_killed_while_it_builds_it_begins_again(mac: Mac) -> None:
    process = start(mac)
    folder = mac.cache / "coreml"
    deadline = time.monotonic() + SOON
    while not list(folder.glob("*/coreml.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert mac.status().state is State.ABSENT
    key, record = mac.prepare()
    assert record.state is State.READY
    assert list(key.glob(".building-*")) == []


def test_nothing_is_left_in_the_systems_folder_for_temporary_files(
    mac: Mac, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where coremltools puts all weights first, as often as it is asked."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    mac.suffers(unsupported="no Mac")
    for parts in (1, 2):
        folder, _ = mac.preparation(options=CoremlOptions(parts=parts)).run(prove=False)
        assert sorted(path.name for path in folder.iterdir()) == ["coreml.json", "encoder.mlpackage"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_an_older_builder_wrote_is_not_used_and_goes(ready: Mac, monkeypatch: pytest.MonkeyPatch) -> None:
    old = ready.status().folder
    assert old is not None
    for module in (records, preparation):
        monkeypatch.setattr(module, "BUILDER", BUILDER + 1)
    assert ready.status().state is State.ABSENT
    ready.suffers(unsupported="no Mac")
    new, _ = ready.preparation().run(prove=False)
    assert new != old
    assert not old.exists()


def test_two_at_once_do_not_disturb_each_other(built: Mac) -> None:
    mac = built
    mac.suffers(compile="hang")
    process = start(mac)
    waited_for(mac.script.with_suffix(".hangs"))
    assert failure(mac).code is Code.MODEL_BUSY
    assert mac.status().state is State.COMPILING
    with pytest.raises(EngineError):
        remove_encoders(mac.cache, SHA)
    process.kill()
    process.wait()


def test_another_system_has_it_prepared_again(ready: Mac) -> None:
    mac = ready
    mac.suffers(build="24B2")
    status = mac.status()
    assert status.state is State.ABSENT
    assert "macOS was updated" in status.reason
    assert mac.prepare()[1].state is State.READY
    assert mac.told == [State.PREPARING, State.CHECKING, State.READY]


def test_the_second_death_at_work_turns_it_off_until_the_user_asks_or_the_system_is_another(ready: Mac) -> None:
    mac = ready
    folder = mac.status().folder
    assert folder is not None
    count_death(folder, "SIGABRT")
    assert mac.status().state is State.READY
    count_death(folder, "SIGABRT")
    assert mac.status().state is State.OFF
    assert "SIGABRT" in mac.status().reason
    mac.suffers(build="24B2")
    assert mac.status().state is State.ABSENT
    mac.suffers()
    assert mac.status().state is State.OFF
    mac.prepare()
    assert mac.status().state is State.READY
    record = read_record(folder)
    assert record is not None
    assert record.deaths == 0


def test_what_failed_at_work_is_made_anew(ready: Mac) -> None:
    mac = ready
    folder = mac.status().folder
    assert folder is not None
    condemn_encoder(folder, "The encoder gave what are no numbers.")
    assert mac.status().state is State.FAILED
    assert mac.prepare()[1].state is State.READY
    assert mac.told[0] is State.BUILDING


def test_turned_off_it_stays_off_until_it_is_built_again(ready: Mac) -> None:
    mac = ready
    assert turn_off(mac.cache, SHA) == 1
    assert mac.status().state is State.OFF
    mac.suffers(build="24B2")
    assert mac.status().state is State.OFF, "an update is not the user"
    mac.suffers()
    folder = mac.status().folder
    assert folder is not None
    assert mac.preparation().check(folder).state is State.OFF, "a check is no wish to use it"
    assert mac.prepare()[1].state is State.READY


def test_removed_it_is_gone(ready: Mac) -> None:
    mac = ready
    assert remove_encoders(mac.cache, SHA) > 100_000
    assert mac.status().state is State.ABSENT
    assert [path for path in (mac.cache / "coreml").iterdir() if path.is_dir()] == []


def test_the_way_of_a_compiled_encoder_never_changes(ready: Mac) -> None:
    """macOS remembers what it made of it by its path."""
    mac = ready
    (folder,) = [path for path in (mac.cache / "coreml").iterdir() if path.is_dir()]
    inode = compiled_of(folder).stat().st_ino
    assert mac.prepare()[0] == folder
    assert compiled_of(folder).stat().st_ino == inode


def test_the_key_is_of_the_encoder_and_the_options_alone(small: Small, tmp_path: Path) -> None:
    tensors = small.tensors(1)
    one = read_model(small.write(tmp_path / "one.bin", 1, tensors=tensors))
    tensors["decoder.ln.bias"] += 1
    decoder = read_model(small.write(tmp_path / "decoder.bin", 1, tensors=tensors))
    tensors["encoder.ln_post.bias"] += 1
    encoder = read_model(small.write(tmp_path / "encoder.bin", 1, tensors=tensors))
    key = encoder_key(one, CoremlOptions())
    assert encoder_key(decoder, CoremlOptions()) == key
    assert encoder_key(encoder, CoremlOptions()) != key
    assert encoder_key(one, CoremlOptions(int8=True)) != key


def test_a_quantised_source_is_warned_of(small: Small, tmp_path: Path) -> None:
    mac = Mac(small.write(tmp_path / "q5.bin", 8), tmp_path / "cache", tmp_path / "script.json")
    mac.suffers(unsupported="no Mac")
    assert "quantised" in mac.preparation().run(prove=False)[1].warning


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_leaves_what_was_there(mac: Mac, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], check=True)
    try:
        small_disk = Mac(mac.model, disk, mac.script)
        error = failure(small_disk)
        assert error.code is Code.DISK_FULL
        assert small_disk.status().state is State.FAILED
        assert "The disk is full." in small_disk.status().reason
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_nobody_elses_work_is_shown_as_running(ready: Mac) -> None:
    mac = ready
    folder = mac.status().folder
    assert folder is not None
    with working_on(folder):
        assert mac.status().state is State.READY


def start(mac: Mac) -> subprocess.Popen[bytes]:
    """A preparation in a process of its own."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from tests.engine.coreml.conftest import Mac\n"
        "Mac(*map(Path, sys.argv[1:])).prepare()"
    )
    arguments = [str(path) for path in (mac.model, mac.cache, mac.script)]
    return subprocess.Popen([sys.executable, "-c", code, *arguments])


def waited_for(file: Path) -> str:
    deadline = time.monotonic() + SOON
    while not (file.exists() and file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return file.read_text()


def is_gone(process: int) -> bool:
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
