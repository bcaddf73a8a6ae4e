"""Graphs are built once, and nothing that is not whole is ever used: real kills, real small disks, real rivals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import Code, EngineError
from engine.folders import models_folder
from engine.graphs import cache as graph_cache
from engine.graphs.built import built, facts_of
from engine.graphs.cache import graphs_for
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.models.ggml import read_model
from engine.models.store import ModelStore
from engine.types import Precision
from tests.engine.small_models import Small

SHA = "0123456789abcdef" * 4
ROOT = Path(__file__).resolve().parents[3]

# Builds graphs in a process of its own; its arguments are the model and the cache, and how long to wait halfway. Says
# when it begins to wait.
BUILDER = """
import sys, time
from pathlib import Path
from engine.graphs.cache import graphs_for

waited = []

def on_part(done, of):
    if 2 * done > of and not waited:
        print("halfway", flush=True)
        waited.append(time.sleep(float(sys.argv[3])))

print(graphs_for(Path(sys.argv[1]), {sha!r}, "int8", Path(sys.argv[2]), on_part)[0], flush=True)
"""


@pytest.fixture(scope="module")
def model(small: Small, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.write(tmp_path_factory.mktemp("model ☃") / "model.bin", 1)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cäche 'x'"


@pytest.fixture
def builder(model: Path, cache: Path) -> Iterator[Callable[[float], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(wait: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", BUILDER.format(sha=SHA), str(model), str(cache), str(wait)]
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def build(model: Path, cache: Path) -> tuple[Path, list[tuple[int, int]]]:
    parts: list[tuple[int, int]] = []
    folder, _ = graphs_for(model, SHA, "int8", cache, lambda done, of: parts.append((done, of)))
    return folder, parts


def left_over(cache: Path) -> list[Path]:
    return sorted(path for path in (cache / "graphs").glob("*") if path not in [folder for folder, _ in built(cache)])


def works(folder: Path) -> bool:
    graphs = OnnxGraphs(folder, 1)
    return bool(np.isfinite(graphs.encode(np.zeros((1, 80, 10), np.float32)).numpy()).all())


def test_graphs_are_built_once(model: Path, cache: Path) -> None:
    folder, parts = build(model, cache)
    assert parts
    times = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert build(model, cache) == (folder, [])
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == times
    assert works(folder)


def test_how_far_a_build_is_moves_in_small_steps_and_only_forward(model: Path, cache: Path) -> None:
    _, parts = build(model, cache)
    of = sum(tensor.nbytes for tensor in read_model(model).tensors.values())
    largest = max(tensor.nbytes for tensor in read_model(model).tensors.values())
    told = [done for done, whole in parts if whole == of]
    assert len(told) == len(parts)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, of)
    assert max(np.diff(told)) <= largest


def test_the_same_model_gives_the_same_bytes(model: Path, tmp_path: Path) -> None:
    one, other = (build(model, tmp_path / name)[0] for name in ("one", "other"))
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes(), file.name


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "graphs.json").unlink(),
        lambda folder: (folder / "graphs.json").write_bytes(b'{"model": "x"'),
        lambda folder: os.truncate(folder / "decoder.weights", 5000),
        lambda folder: os.truncate(folder / "decoder.weights", (folder / "decoder.weights").stat().st_size - 1),
        lambda folder: (folder / "encoder.onnx").unlink(),
        lambda folder: (folder / "cross.weights").unlink(),
    ],
    ids=["no facts", "half the facts", "few weights", "a byte less", "no encoder", "no cross weights"],
)
def test_a_folder_that_is_not_whole_is_built_anew(model: Path, cache: Path, harm: Callable[[Path], None]) -> None:
    folder, _ = build(model, cache)
    harm(folder)
    assert facts_of(folder) is None
    again, parts = build(model, cache)
    assert (again, bool(parts)) == (folder, True)
    assert facts_of(folder) is not None
    assert works(folder)
    assert left_over(cache) == []


def test_a_new_builder_builds_anew_and_the_old_graphs_go(
    model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, _ = build(model, cache)
    monkeypatch.setattr(graph_cache, "BUILDER", graph_cache.BUILDER + 1)
    new, parts = build(model, cache)
    assert parts
    assert new != old
    assert not old.exists()
    assert [folder for folder, _ in built(cache)] == [new]


def test_graphs_of_older_builders_and_of_files_that_have_gone_go_when_others_are_built(
    model: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copy(model, tmp_path / "copy.bin"))
    orphan, kept = (graphs_for(file, sha, "int8", cache, print)[0] for file, sha in ((copy, "c" * 64), (model, SHA)))
    monkeypatch.setattr(graph_cache, "BUILDER", graph_cache.BUILDER - 1)
    older, _ = graphs_for(model, "d" * 64, "int8", cache, print)
    monkeypatch.undo()
    assert {folder for folder, _ in built(cache)} == {orphan, kept, older}
    copy.unlink()
    new, _ = graphs_for(model, "e" * 64, "int8", cache, print)
    assert {folder for folder, _ in built(cache)} == {kept, new}


def test_another_precision_or_model_has_graphs_of_its_own(model: Path, cache: Path) -> None:
    wanted: list[tuple[str, Precision]] = [(SHA, "int8"), (SHA, "fp32"), (SHA[::-1], "int8")]
    folders = {graphs_for(model, sha, precision, cache, lambda _done, _of: None)[0] for sha, precision in wanted}
    assert {folder for folder, _ in built(cache)} == folders
    assert len(folders) == 3


def test_a_builder_killed_halfway_leaves_nothing_that_is_used(
    model: Path, cache: Path, builder: Callable[[float], subprocess.Popen[str]]
) -> None:
    process = builder(60)
    assert process.stdout is not None
    assert process.stdout.readline() == "halfway\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert list(built(cache)) == []
    assert left_over(cache) != [], "it was killed too late: nothing was tested"
    folder, parts = build(model, cache)
    assert parts
    assert works(folder)
    assert left_over(cache) == []


def test_two_that_build_at_once_both_get_the_same_graphs(
    cache: Path, builder: Callable[[float], subprocess.Popen[str]]
) -> None:
    one = builder(0.8)
    assert one.stdout is not None
    assert one.stdout.readline() == "halfway\n"
    other = builder(0.8)
    said = [one.communicate(timeout=60)[0].splitlines(), other.communicate(timeout=60)[0].splitlines()]
    assert (one.returncode, other.returncode) == (0, 0)
    assert len(said[0]) == 1
    assert said[1] == said[0], "the second built again what the first had built"
    assert works(Path(said[0][0]))
    assert left_over(cache) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_said_and_nothing_is_left(model: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    try:
        with pytest.raises(EngineError) as caught:
            build(model, disk)
        assert caught.value.code is Code.DISK_FULL
        assert left_over(disk) == []
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_folder_that_may_not_be_written_is_an_engine_error(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(EngineError) as caught:
        build(model, tmp_path / "file")
    assert caught.value.code is Code.NOT_WRITABLE


def test_a_damaged_model_leaves_no_trace(model: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "half.bin").write_bytes(model.read_bytes()[:-1])
    with pytest.raises(EngineError) as caught:
        build(tmp_path / "half.bin", cache)
    assert caught.value.code is Code.MODEL_DAMAGED
    assert not cache.exists()


def test_int8_graphs_of_base_are_smaller_than_its_file_and_are_written_without_a_float32_copy(
    data_with_models: Path, tmp_path: Path
) -> None:
    base = ModelStore(models_folder(data_with_models)).path("base")
    tracemalloc.start()
    try:
        build(base, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    ((_, facts),) = built(tmp_path)
    assert facts.size < 0.6 * base.stat().st_size
    assert peak < 51_865 * 512 * 4, "as much as the largest matrix has in float32"
