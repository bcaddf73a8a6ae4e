"""What was built of a model is told, and goes with it or when it is asked to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine.errors import Code, EngineError
from engine.graphs.built import (
    FACTS,
    UNFINISHED,
    BuiltGraphs,
    built,
    bytes_by_model,
    graphs_folder,
    lock_of,
    remove_graphs,
    remove_model,
)
from engine.graphs.cache import graphs_for
from engine.models.disk import locked
from engine.models.importers import import_model
from engine.models.store import ModelStore
from engine.types import Precision
from tests.engine.small_models import Small

Build = Callable[[str, Precision], Path]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cäche"


@pytest.fixture
def store(small: Small, tmp_path: Path) -> ModelStore:
    """Two models."""
    (tmp_path / "models").mkdir()
    store = ModelStore(tmp_path / "models")
    for seed, name in enumerate(("one", "two")):
        import_model(small.write(tmp_path / f"{name}.bin", 1, seed), store)
    return store


@pytest.fixture
def build(store: ModelStore, cache: Path) -> Build:
    def graphs(name: str, precision: Precision) -> Path:
        model = store.get(name)
        assert model is not None
        return graphs_for(model.path, model.sha256 or "", precision, cache, lambda _done, _of: None)[0]

    return graphs


def bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if file.name != FACTS)


def test_all_graphs_can_be_removed_and_what_that_frees_is_told(store: ModelStore, cache: Path, build: Build) -> None:
    folder = build("one", "int8")
    left = graphs_folder(cache) / f"{UNFINISHED}by a crash"
    left.mkdir()
    (left / "encoder.weights").write_bytes(bytes(1000))
    size = bytes_in(folder)
    assert [facts.size for _, facts in built(cache)] == [size]
    assert remove_graphs(cache) == size + 1000
    assert not graphs_folder(cache).exists()
    assert build("one", "int8") == folder


def test_how_much_was_built_of_each_model_is_told(store: ModelStore, cache: Path, build: Build) -> None:
    int8, fp32, other = build("one", "int8"), build("one", "fp32"), build("two", "int8")
    one, two = (model.sha256 for model in store.list())
    assert bytes_by_model(cache) == {one: bytes_in(int8) + bytes_in(fp32), two: bytes_in(other)}


def test_with_a_model_all_that_was_built_of_it_goes_and_nothing_else(
    store: ModelStore, cache: Path, build: Build
) -> None:
    folders = [build("one", "int8"), build("one", "fp32")]
    kept, size = build("two", "int8"), sum(map(bytes_in, folders))
    assert remove_model(store, "one", cache) == size
    assert [model.name for model in store.list()] == ["two"]
    assert [folder for folder, _ in built(cache)] == [kept]
    assert list(graphs_folder(cache).iterdir()) == [kept]


def test_a_model_that_is_not_there_takes_no_graphs_with_it(store: ModelStore, cache: Path, build: Build) -> None:
    kept = build("one", "int8")
    with pytest.raises(EngineError) as caught:
        remove_model(store, "three", cache)
    assert caught.value.code is Code.MODEL_UNKNOWN
    assert [folder for folder, _ in built(cache)] == [kept]


def test_nothing_is_removed_while_graphs_are_built(store: ModelStore, cache: Path, build: Build) -> None:
    folder = build("one", "int8")
    with locked(lock_of(cache), wait=False), pytest.raises(EngineError) as caught:
        remove_graphs(cache)
    assert caught.value.code is Code.MODEL_BUSY
    assert [found for found, _ in built(cache)] == [folder]


def test_nothing_is_removed_where_nothing_is(cache: Path) -> None:
    assert remove_graphs(cache) == 0
    assert list(built(cache)) == []
    assert not cache.exists()


def test_a_folder_that_died_just_before_it_got_its_name_is_not_finished(cache: Path) -> None:
    folder = graphs_folder(cache) / f"{UNFINISHED}x"
    folder.mkdir(parents=True)
    facts = BuiltGraphs("a" * 64, "int8", 1, 0)
    (folder / FACTS).write_bytes(msgspec.json.encode(facts))
    assert list(built(cache)) == []
    folder.rename(graphs_folder(cache) / "x")
    assert [facts for _, facts in built(cache)] == [replace(facts, file=b"")]


def test_the_window_can_ask_without_numpy_and_onnx() -> None:
    script = "import sys, engine.graphs.built; sys.exit(not {'numpy', 'onnx', 'onnxruntime'}.isdisjoint(sys.modules))"
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", script], cwd=root, env=os.environ, check=False).returncode == 0
