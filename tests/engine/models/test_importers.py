"""Models taken over from elsewhere: ggml files as they are, CTranslate2 folders written anew."""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.errors import Code, EngineError
from engine.models.ct2_whisper import ggml_tensors, hyperparameters, source_of
from engine.models.ctranslate2 import read_weights
from engine.models.ggml import read_model
from engine.models.importers import import_model, name_for
from engine.models.store import ModelStore
from engine.models.vocabulary import read_vocabulary

if TYPE_CHECKING:
    from tests.engine.small_models import Small

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
AWKWARD = "fäster whisper ☃ 'x'"


def write_ct2(path: Path, tensors: dict[str, NDArray[Any]], kind: str) -> None:
    """Write a CTranslate2 model of the small model's tensors; `kind` as its converter's --quantization has it."""
    variables = dict(_ct2_variables(tensors, kind))
    with path.open("wb") as file:
        file.write(struct.pack("<I", 6) + _ct2_text("WhisperSpec") + struct.pack("<II", 3, len(variables)))
        for name, value in sorted(variables.items()):
            number = {"f4": 0, "i1": 1, "i2": 2, "f2": 4, "u2": 5}[value.dtype.str[1:]]
            file.write(_ct2_text(name) + struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape))
            file.write(struct.pack("<BI", number, value.nbytes) + value.tobytes())
        file.write(
            struct.pack("<I", 1) + _ct2_text("decoder/projection/weight") + _ct2_text("decoder/embeddings/weight")
        )


def _ct2_text(text: str) -> bytes:
    return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"


def _ct2_variables(tensors: dict[str, NDArray[Any]], kind: str) -> Iterator[tuple[str, NDArray[Any]]]:
    parts: dict[str, dict[int, NDArray[Any]]] = {}
    for name, value in tensors.items():
        variable, part, count = source_of(name)
        nothing = dict.fromkeys(range(count), np.zeros(len(value)))  # the keys' bias, which ggml does not have
        parts.setdefault(variable, nothing)[part] = value.reshape(-1) if variable.endswith("bias") else value
    for variable, values in parts.items():
        whole = np.concatenate(list(values.values())).astype(np.float32)
        plain = {"float16": "<f2", "int8_float16": "<f2"}.get(kind, "<f4")
        if kind == "bfloat16":
            yield variable, (whole.view("<u4") >> 16).astype("<u2")
        elif kind.startswith("int8") and whole.ndim > 1 and "position" not in variable:
            scale = 127 / np.abs(whole.reshape(len(whole), -1)).max(axis=1)
            yield variable, np.rint(whole * scale.reshape(-1, *[1] * (whole.ndim - 1))).astype("i1")
            yield f"{variable}_scale", scale.astype("<f4")
        elif kind == "int16" and whole.ndim > 1 and "position" not in variable:
            scale = np.float32(2**10 / np.abs(whole).max())
            yield variable, np.rint(whole * scale).astype("<i2")
            yield f"{variable}_scale", np.array(scale, "<f4")
        else:
            yield variable, whole.astype(plain)


def tokenizer(words: list[bytes]) -> bytes:
    """A tokenizer.json with these words, spelled as GPT-2 spells bytes (checked below against a published one)."""
    letters = {byte: chr(byte) for byte in range(33, 127)} | {32: "Ġ"}
    vocab = {"".join(letters[byte] for byte in word): number for number, word in enumerate(words)}
    return json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": vocab}, "added_tokens": []}).encode()


@pytest.fixture(scope="session")
def tensors(small: Small) -> dict[str, NDArray[Any]]:
    return small.tensors(ftype=1)


@pytest.fixture
def folder(tmp_path: Path, small: Small, tensors: dict[str, NDArray[Any]]) -> Path:
    """A faster-whisper folder with the small model in float16."""
    folder = tmp_path / AWKWARD
    folder.mkdir()
    write_ct2(folder / "model.bin", tensors, "float16")
    (folder / "tokenizer.json").write_bytes(tokenizer(small.words))
    (folder / "config.json").write_text("{}")
    return folder


def refused(source: Path, store: ModelStore, code: Code = Code.IMPORT_FAILED) -> str:
    """Import what must be refused, without a trace in the store; what the user is told."""
    with pytest.raises(EngineError) as caught:
        import_model(source, store, "m")
    assert caught.value.code is code, caught.value
    assert [file.name for file in store.folder.iterdir() if file.suffix != ".lock"] == []
    return caught.value.detail


def everything_in(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_a_ggml_file_is_copied_and_stays_as_it_was(store: ModelStore, small_file: Path) -> None:
    before = everything_in(small_file.parent)
    stored = import_model(small_file, store)
    assert stored.name == "small one"
    assert stored.path.read_bytes() == small_file.read_bytes()
    assert everything_in(small_file.parent) == before


def test_a_faster_whisper_folder_becomes_a_ggml_file(
    store: ModelStore, folder: Path, small: Small, tensors: dict[str, NDArray[Any]]
) -> None:
    before = everything_in(folder)
    stored = import_model(folder, store)
    model = read_model(store.path(AWKWARD))
    assert list(model.vocabulary) == small.words
    assert model.hyper.ftype == 1
    for name, values in tensors.items():
        assert np.array_equal(model.array(name), values.astype(np.float16).astype(values.dtype)), name
    assert (stored.name, stored.origin, stored.source, stored.note) == (AWKWARD, "import", str(folder), "")
    assert everything_in(folder) == before


def test_the_weights_inside_a_folder_stand_for_the_folder(store: ModelStore, folder: Path) -> None:
    assert import_model(folder / "model.bin", store).name == AWKWARD


@pytest.mark.parametrize(
    ("kind", "tolerance", "note"),
    [
        ("float32", 0.0, ""),
        ("bfloat16", 2e-3, ""),
        ("int8", 2e-3, "from integer weights"),
        ("int8_float16", 2e-3, "from integer weights"),
        ("int16", 4e-4, "from integer weights"),
    ],
)
def test_weights_of_every_kind_keep_their_values(
    store: ModelStore, folder: Path, tensors: dict[str, NDArray[Any]], kind: str, tolerance: float, note: str
) -> None:
    write_ct2(folder / "model.bin", tensors, kind)
    assert import_model(folder, store, "m").note == note
    model = read_model(store.path("m"))
    for name, values in tensors.items():
        assert np.abs(model.floats(name) - values.astype(np.float32)).max() <= tolerance, name


def test_progress_goes_on_to_the_end_and_can_stop_the_import(store: ModelStore, folder: Path, small_file: Path) -> None:
    for number, source in enumerate((folder, small_file)):
        seen: list[tuple[int, int]] = []
        import_model(source, store, f"m{number}", lambda done, total, seen=seen: seen.append((done, total)))
        assert seen == sorted(seen)
        assert len({total for _, total in seen}) == 1
        assert 0.98 < seen[-1][0] / seen[-1][1] <= 1
        for stop_at in (1, len(seen) // 2, len(seen)):
            calls = iter(range(1, stop_at))

            def stop(done: int, total: int, calls: Iterator[int] = calls) -> None:
                if next(calls, None) is None:
                    raise KeyboardInterrupt

            with pytest.raises(KeyboardInterrupt):
                import_model(source, store, "stopped", stop)
    assert {model.name for model in store.list()} == {"m0", "m1"}
    assert not list(store.folder.glob(".*"))


def test_a_model_is_not_overwritten(store: ModelStore, folder: Path, small_file: Path) -> None:
    before = import_model(small_file, store, "m").path.read_bytes()
    for source in (small_file, folder):
        with pytest.raises(EngineError) as caught:
            import_model(source, store, "m")
        assert caught.value.code is Code.ALREADY_THERE
    assert store.path("m").read_bytes() == before


def test_an_import_does_not_wait_in_silence_for_another(store: ModelStore, folder: Path) -> None:
    with store.lock("m"):
        assert refused(folder, store, Code.MODEL_BUSY) == ""


def test_a_deleted_models_record_does_not_speak_for_the_next(store: ModelStore, folder: Path, small_file: Path) -> None:
    import_model(small_file, store, "m").path.unlink()
    import_model(folder, store, "m")
    assert store.path("m").exists()


def test_names_come_from_the_file_or_folder(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--Systran--faster-whisper-small" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (tmp_path / "my.fine.tune").mkdir()
    names = {
        snapshot: "faster-whisper-small",
        tmp_path / "my.fine.tune": "my.fine.tune",
        tmp_path / "ggml-base.en-q5_1.bin": "base.en-q5_1",
        tmp_path / "Mu\u0308ller.bin": "M\u00fcller",
        tmp_path / "plain": "plain",
    }
    assert {path: name_for(path) for path in names} == names
    for path in (tmp_path / "...", tmp_path / ("x" * 200), tmp_path / os.fsdecode(b"\xff.bin"), tmp_path / "a:b"):
        with pytest.raises(EngineError) as caught:
            name_for(path)
        assert caught.value.code is Code.IMPORT_FAILED


def test_a_folder_of_links_is_imported_as_hugging_face_keeps_it(
    store: ModelStore, folder: Path, tmp_path: Path
) -> None:
    snapshot = tmp_path / "models--me--mine" / "snapshots" / "1234"
    snapshot.mkdir(parents=True)
    for file in folder.iterdir():
        (snapshot / file.name).symlink_to(file)
    assert import_model(snapshot, store).name == "mine"


def test_what_is_no_model_is_refused_with_the_reason(store: ModelStore, tmp_path: Path, small_file: Path) -> None:
    text = tmp_path / "notes ☃.txt"
    text.write_text("not a model")
    assert "does not begin as a ggml file" in refused(text, store)
    assert "holds no model.bin" in refused(tmp_path, store)
    assert "not there: No such file" in refused(tmp_path / "not there", store)
    assert "it is not a file" in refused(Path("/dev/null"), store)
    text.write_bytes(small_file.read_bytes()[:-1])
    assert "bytes are missing" in refused(text, store)


def test_a_folder_without_its_words_is_refused(store: ModelStore, folder: Path) -> None:
    words = folder / "tokenizer.json"
    whole = words.read_bytes()
    for bad, why in {
        b"": "cannot be understood",
        b"\xff": "cannot be understood",
        b"[1]": "cannot be understood",
        b'{"model": {"vocab": {"a": "b"}}}': "cannot be understood",
        b'{"model": {"vocab": {"a": 0}}}': "it lacks 1",
        whole.replace(b'"77"', '"☃"'.encode()): "it lacks '☃'",
    }.items():
        words.write_bytes(bad)
        assert why in refused(folder, store)
    words.unlink()
    assert "tokenizer.json: No such file" in refused(folder, store)


def spoil(folder: Path, find: bytes, put: bytes) -> None:
    body = (folder / "model.bin").read_bytes()
    assert find in body
    (folder / "model.bin").write_bytes(body.replace(find, put, 1))


def test_weights_that_are_not_whispers_are_refused(
    store: ModelStore, folder: Path, tensors: dict[str, NDArray[Any]]
) -> None:
    def case(why: str, change: Callable[[], object]) -> None:
        write_ct2(folder / "model.bin", tensors, "float32")
        change()
        assert why in refused(folder, store)

    def spoilt(name: str, value: float) -> Callable[[], None]:
        other = {**tensors, name: np.where(np.arange(64) == 3, value, tensors[name].astype(np.float32))}
        return lambda: write_ct2(folder / "model.bin", other, "float32")

    body = folder / "model.bin"
    case("ends early", lambda: body.write_bytes(b""))
    case("not CTranslate2's", lambda: body.write_text("hello, this is text"))
    case("'TransformerX'", lambda: spoil(folder, b"\x0c\0WhisperSpec\0", b"\x0d\0TransformerX\0"))
    case("claims 4294967295", lambda: spoil(folder, struct.pack("<II", 3, 43), struct.pack("<II", 3, 2**32 - 1)))
    case("has no encoder/conv1/bias", lambda: spoil(folder, b"encoder/conv1/bias", b"encoder/conv9/bias"))
    case(
        "no Whisper has an n_mels of 60",
        lambda: spoil(folder, struct.pack("<3I", 64, 80, 3), struct.pack("<3I", 64, 60, 4)),
    )
    case(
        "not as large as its shape says", lambda: spoil(folder, struct.pack("<BI", 1, 256), struct.pack("<BI", 1, 255))
    )
    short = {**tensors, "decoder.ln.bias": np.zeros(63)}
    case("(63,), which does not fit", lambda: write_ct2(body, short, "float32"))
    case("holds values that are no numbers", spoilt("decoder.ln.bias", float("nan")))
    case("holds values that are no numbers", spoilt("decoder.blocks.0.attn.key.weight", float("inf")))
    case("beyond what float16 can", spoilt("decoder.blocks.0.attn.key.weight", 70_000.0))


def test_a_cut_model_bin_is_refused_wherever_it_is_cut(store: ModelStore, folder: Path) -> None:
    body = (folder / "model.bin").read_bytes()
    for cut in (1, 5, 17, 24, 30, 60, 70, 1000, 1_000_000, 7_000_000, len(body) - 2000):
        (folder / "model.bin").write_bytes(body[:cut])
        assert "model.bin ends" in refused(folder, store), cut


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 300), piece=st.binary(min_size=1, max_size=8))
def test_a_spoilt_model_bin_is_read_or_refused_and_nothing_else(folder: Path, place: int, piece: bytes) -> None:
    body = bytearray((folder / "model.bin").read_bytes())
    body[place : place + len(piece)] = piece
    try:
        weights = read_weights(io.BytesIO(body))
        names = [name for name, _ in ggml_tensors(weights, hyperparameters(weights))]
    except EngineError as error:
        names = [error.detail]
    assert all(names)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Small disks: give a size, get a folder."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        mounted.append(tmp_path / f"disk ö {len(mounted)}")
        mounted[-1].mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mounted[-1]], check=True)
        return mounted[-1]

    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


@as_root
def test_a_disk_that_is_too_small_is_known_before_the_work(
    disk: Callable[[str], Path], folder: Path, small_file: Path
) -> None:
    store = ModelStore(disk("1m"))
    for source in (folder, small_file):
        assert "are needed" in refused(source, store, Code.DISK_FULL)


@as_root
def test_a_disk_that_fills_up_during_an_import_leaves_nothing_behind(
    disk: Callable[[str], Path], folder: Path, small_file: Path
) -> None:
    store = ModelStore(disk("12m"))

    def fill(done: int, total: int) -> None:
        (store.folder / "else").write_bytes(bytes(shutil.disk_usage(store.folder).free // 4096 * 4096))

    for source in (folder, small_file):
        with pytest.raises(EngineError) as caught:
            import_model(source, store, "m", fill)
        assert caught.value.code is Code.DISK_FULL
        assert {file.name for file in store.folder.iterdir()} == {"else", "ggml-m.lock"}
        (store.folder / "else").unlink()


def test_a_tokenizer_spells_every_byte() -> None:
    """GPT-2's letters, as its encoder.py lists them: a few that are easy to get wrong."""
    letters = ["!", "~", "¡", "¬", "®", "ÿ", "Ā", "Ġ", "ġ", "Ń"]
    vocab = {letter: number for number, letter in enumerate(letters)}
    vocab |= {f"filler{number}": number for number in range(len(letters), 50_257)}
    words = read_vocabulary(json.dumps({"model": {"vocab": vocab}}).encode())
    assert words[: len(letters)] == [b"!", b"~", b"\xa1", b"\xac", b"\xae", b"\xff", b"\0", b" ", b"\x7f", b"\xad"]
