"""Every model file is read through before whisper.cpp sees it; these are the promises of that reader."""

from __future__ import annotations

import functools
import itertools
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import Code, EngineError
from engine.models.catalog import CATALOG
from engine.models.ggml import read_model, write_ggml, written_bytes
from engine.models.ggml_types import DTYPES, GgmlType, as_floats, shape_of, stored_bytes
from engine.models.mel_filters import mel_filters
from engine.models.whisper_layout import WEIGHT_TYPES, Hyperparameters, expected_tensors

if TYPE_CHECKING:
    from tests.engine.small_models import Small

HEAD = 4 + 4 * 11 + 8 + 4 * 80 * 201  # bytes before the vocabulary


def refused(path: Path) -> str:
    """Read a file that must be refused; what the user is told."""
    with pytest.raises(EngineError) as caught:
        read_model(path)
    assert caught.value.code is Code.MODEL_DAMAGED
    assert path.name in caught.value.detail
    return caught.value.detail


@functools.cache
def tensor_headers(path: Path) -> list[tuple[int, int]]:
    """Where each tensor's header begins, and where its data do."""
    tensors = sorted(read_model(path).tensors.values(), key=lambda tensor: tensor.offset)
    return [(one.offset - len(one.name) - 4 * len(one.shape) - 12, one.offset) for one in tensors]


@pytest.mark.parametrize("ftype", WEIGHT_TYPES)
def test_what_is_written_is_read(small: Small, tmp_path: Path, ftype: int) -> None:
    model = read_model(small.write(tmp_path / "模型 ö.bin", ftype))
    assert model.hyper == replace(small.hyper, ftype=ftype)
    assert list(model.vocabulary) == small.words
    assert np.array_equal(model.filters, mel_filters(80))
    for name, stored in small.tensors(ftype).items():
        assert np.array_equal(model.stored(name), stored), name
        assert model.tensors[name].shape == shape_of(stored)
        assert np.array_equal(model.floats(name), as_floats(stored)), name
        assert model.floats(name).dtype == np.float32


def test_in_a_float32_file_every_tensor_is_float32(small: Small, tmp_path: Path) -> None:
    """As whisper.cpp's convert-pt-to-ggml.py writes it, convolutions included."""
    model = read_model(small.write(tmp_path / "f32.bin", 0))
    assert {tensor.type for tensor in model.tensors.values()} == {GgmlType.F32}


def test_plain_tensors_are_views_of_the_file(small: Small, tmp_path: Path) -> None:
    model = read_model(small.write(tmp_path / "m.bin", ftype=8))
    embedding = model.array("encoder.positional_embedding")
    assert embedding.shape == (1500, 64)
    assert embedding.base is not None
    assert not embedding.flags.writeable
    with pytest.raises(ValueError, match="quantised"):
        model.array("decoder.token_embedding.weight")


@pytest.mark.skipif(sys.platform != "linux", reason="how much of a file is in memory is read from /proc")
def test_a_tensor_that_was_let_go_takes_no_memory_and_can_be_read_again(tmp_path: Path) -> None:
    path, name = tmp_path / "base.bin", "decoder.token_embedding.weight"
    write_hollow(path, published("base"))
    model = read_model(path)
    view = model.array(name)
    held = [mapped_memory()]
    for _ in range(2):
        assert not view.any()
        held.append(mapped_memory())
        model.let_go(name)
        held.append(mapped_memory())
    assert [after - before > 50_000_000 for before, after in itertools.pairwise(held)] == [True, False, True, False]
    assert max(held[::2]) - held[0] < 5_000_000


def mapped_memory() -> int:
    """Bytes of files that this process holds in memory."""
    return int(re.findall(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024


def test_a_file_can_be_removed_while_its_tensors_are_in_use(small: Small, tmp_path: Path) -> None:
    path = small.write(tmp_path / "m.bin")
    bias = read_model(path).array("encoder.ln_post.bias")
    path.unlink()
    assert bias.shape == (64,)
    assert np.isfinite(bias).all()


def scalar_value(kind: GgmlType, block: bytes, place: int) -> float:
    """One value of a block, straight from the definitions in ggml-common.h and ggml-quants.c."""
    d = struct.unpack_from("<e", block)[0]
    if kind is GgmlType.Q8_0:
        return struct.unpack_from("<b", block, 2 + place)[0] * d
    has_minimum = kind in {GgmlType.Q4_1, GgmlType.Q5_1}
    start = 4 if has_minimum else 2
    fifth = 0
    if kind in {GgmlType.Q5_0, GgmlType.Q5_1}:
        fifth = struct.unpack_from("<I", block, start)[0] >> place & 1
        start += 4
    byte = block[start + place % 16]
    q = (byte & 15 if place < 16 else byte >> 4) | fifth << 4
    if has_minimum:
        return q * d + struct.unpack_from("<e", block, 2)[0]
    return (q - (8 if kind is GgmlType.Q4_0 else 16)) * d


@pytest.mark.parametrize("kind", [kind for kind in GgmlType if DTYPES[kind].names])
def test_blocks_give_the_values_that_ggml_defines(kind: GgmlType) -> None:
    blocks = np.frombuffer(np.random.default_rng(kind).bytes(40 * DTYPES[kind].itemsize), DTYPES[kind]).copy()
    blocks["d"] = np.linspace(-2, 2, 40).astype("<f2")
    if "m" in (DTYPES[kind].names or ()):
        blocks["m"] = np.linspace(3, -3, 40).astype("<f2")
    expected = [[scalar_value(kind, blocks[n].tobytes(), place) for place in range(32)] for n in range(40)]
    assert np.array_equal(as_floats(blocks.reshape(4, 10)), np.array(expected, np.float32).reshape(4, 320))


def test_ggml_and_we_agree_on_the_size_of_blocks() -> None:
    sizes = {kind.name: stored_bytes(kind, (2, 32)) // 2 for kind in GgmlType}
    assert sizes == {"F32": 128, "F16": 64, "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "ends in its first bytes"),
        (b"lmg", "ends in its first bytes"),
        (b"This is a text file, not a model.\n" * 1000, "does not begin as a ggml file"),
        (b"GGUF" + bytes(1000), "does not begin as a ggml file"),
        (b"lmgg" + bytes(20), "ends in its sizes"),
        (b"lmgg" + bytes(1000), "no Whisper has an n_vocab of 0"),
        (b"lmgg" + b"\xff" * 1000, "no Whisper has an n_vocab of -1"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "no model ☃.bin"
    path.write_bytes(content)
    assert why in refused(path)


def test_a_folder_a_pipe_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        assert "it is not a file" in refused(path)


def test_a_missing_file_is_missing(tmp_path: Path, small_file: Path) -> None:
    for path in (tmp_path / "not there", small_file / "below a file"):
        with pytest.raises(EngineError) as caught:
            read_model(path)
        assert caught.value.code is Code.MODEL_MISSING


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root; for oneself every file is readable")
def test_a_file_that_may_not_be_read_says_so(small_file: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from engine.models.ggml import read_model\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "read_model(Path(sys.argv[1]))"
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(0o755)
        path = Path(shutil.copy(small_file, folder))
        path.chmod(0o600)
        ran = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert "The file may not be read." in ran.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"n_vocab": 51863},
        {"n_vocab": 51867},
        {"n_vocab": 2**31 - 1},
        {"n_audio_ctx": 3000},
        {"n_audio_state": 63},
        {"n_audio_state": 128},
        {"n_audio_head": 0},
        {"n_audio_head": -1, "n_audio_state": -64, "n_text_state": -64, "n_text_head": -1},
        {"n_audio_head": 2**20, "n_audio_state": 2**26, "n_text_state": 2**26, "n_text_head": 2**20},
        {"n_audio_layer": 0},
        {"n_audio_layer": 2**31 - 1},
        {"n_text_ctx": 449},
        {"n_text_state": 128},
        {"n_text_head": 2},
        {"n_text_layer": 65},
        {"n_mels": 81},
        {"ftype": 10},
        {"ftype": -1},
        {"ftype": 2**31 - 1},
    ],
)
def test_sizes_that_no_whisper_has_are_refused_without_taking_memory(
    small_file: Path, small: Small, tmp_path: Path, change: dict[str, int]
) -> None:
    path = tmp_path / "m.bin"
    head = struct.pack("<11i", *astuple(replace(small.hyper, **change)))
    path.write_bytes(b"lmgg" + head + small_file.read_bytes()[4 + len(head) :])
    tracemalloc.start()
    why = refused(path)
    assert "no Whisper has an" in why or "its numbers are" in why
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def corrupted(source: Path, target: Path, *changes: tuple[int, bytes]) -> Path:
    body = bytearray(source.read_bytes())
    for offset, piece in changes:
        body[offset : offset + len(piece)] = piece
    target.write_bytes(body)
    return target


def test_mel_filters_of_another_size_or_no_numbers_are_refused(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    assert "80 × 202" in refused(corrupted(small_file, path, (52, struct.pack("<i", 202))))
    assert "2147483647 × 201" in refused(corrupted(small_file, path, (48, struct.pack("<i", 2**31 - 1))))
    assert "not numbers" in refused(corrupted(small_file, path, (100, struct.pack("<f", float("nan")))))


def test_a_vocabulary_that_makes_no_sense_is_refused(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    for count in (-1, 0, 50_255, 51_865, 2**31 - 1):
        assert f"has {count} words" in refused(corrupted(small_file, path, (HEAD, struct.pack("<i", count))))
    assert "has no space" in refused(corrupted(small_file, path, (HEAD + 8, b"_")))
    assert "word 0 of its vocabulary has 4294967295 bytes" in refused(
        corrupted(small_file, path, (HEAD + 4, b"\xff\xff\xff\xff"))
    )


def test_a_tensor_that_is_not_whispers_is_refused(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    (first, data), (second, _) = tensor_headers(small_file)[:2]
    name = first + 12 + 8
    cases = [
        ((first, struct.pack("<i", 0)), "makes no sense"),
        ((first, struct.pack("<i", 5)), "makes no sense"),
        ((first + 4, struct.pack("<i", -1)), "makes no sense"),
        ((first + 4, struct.pack("<i", 2**30)), "makes no sense"),
        ((first + 8, struct.pack("<i", 1)), "is of type 1, not 0 (F32)"),
        ((first + 8, struct.pack("<i", 99)), "is of type 99, not 0 (F32)"),
        ((first + 12, struct.pack("<2i", 0, 1500)), "has the shape (1500, 0), not (1500, 64)"),
        ((first + 12, struct.pack("<2i", 2**31 - 1, 2**31 - 1)), "(2147483647, 2147483647)"),
        ((first + 12, struct.pack("<2i", 1500, 64)), "has the shape (64, 1500)"),
        ((name, b"\xff"), "a tensor that Whisper has not"),
        ((name, b"E"), "a tensor that Whisper has not: 'Encoder"),
    ]
    for change, why in cases:
        assert why in refused(corrupted(small_file, path, change))
    body = small_file.read_bytes()
    path.write_bytes(body[:second] + body[first:second] + body[second:])
    assert "encoder.positional_embedding is in it twice" in refused(path)
    path.write_bytes(body[:first] + body[second:])
    assert "without encoder.positional_embedding" in refused(path)
    assert data > first


def test_a_file_with_something_after_its_end_is_refused(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bin"
    path.write_bytes(small_file.read_bytes() + b"more")
    assert "4 bytes follow its last tensor" in refused(path)


def test_a_file_cut_anywhere_is_refused_with_where(small_file: Path, tmp_path: Path) -> None:
    body, path = small_file.read_bytes(), tmp_path / "m.bin"
    headers = tensor_headers(small_file)
    cuts = {
        4: "its sizes",
        50: "its mel filters",
        1000: "its mel filters",
        HEAD: "its vocabulary",
        HEAD + 9: "vocabulary",
    }
    cuts |= {headers[3][0]: "it ends after 3 of", headers[3][0] + 5: "a tensor's header"}
    cuts |= {headers[3][0] + 13: "a tensor's shape", headers[3][1] - 1: "a tensor's name"}
    cuts |= {headers[3][1] + 1: "it ends in the tensor", len(body) - 1: "1 bytes are missing"}
    for cut, why in cuts.items():
        path.write_bytes(body[:cut])
        assert why in refused(path), cut


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_spoilt_file_is_read_or_refused_and_nothing_else(
    data: st.DataObject, small_file: Path, tmp_path: Path
) -> None:
    body = bytearray(small_file.read_bytes())
    places = st.one_of(
        st.integers(0, 60),
        st.integers(HEAD, HEAD + 2000),
        st.sampled_from(tensor_headers(small_file)).flatmap(lambda span: st.integers(*span)),
        st.integers(0, len(body) - 1),
    )
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(places)
        piece = data.draw(
            st.one_of(st.binary(max_size=8), st.integers(-(2**31), 2**31 - 1).map(lambda n: struct.pack("<i", n)))
        )
        how = data.draw(st.sampled_from(["overwrite", "insert", "cut"]))
        if how == "cut":
            del body[place:]
        else:
            body[place : place + (len(piece) if how == "overwrite" else 0)] = piece
    path = tmp_path / "spoilt.bin"
    path.write_bytes(body)
    try:
        model = read_model(path)
    except EngineError:
        assert refused(path)
    else:
        assert set(model.tensors) == set(expected_tensors(model.hyper))


def catalogue_sizes() -> dict[str, tuple[int, int, int]]:
    return {
        "tiny": (384, 6, 4),
        "base": (512, 8, 6),
        "small": (768, 12, 12),
        "medium": (1024, 16, 24),
        "large": (1280, 20, 32),
    }


def published(name: str) -> Hyperparameters:
    """The sizes of a published model, from openai/whisper's model cards."""
    state, heads, layers = catalogue_sizes()[name.replace(".", "-").split("-")[0]]
    third, english = "v3" in name, name.endswith(".en")
    return Hyperparameters(
        n_vocab=51864 if english else 51866 if third else 51865,
        n_audio_ctx=1500,
        n_audio_state=state,
        n_audio_head=heads,
        n_audio_layer=layers,
        n_text_ctx=448,
        n_text_state=state,
        n_text_head=heads,
        n_text_layer=4 if "turbo" in name else layers,
        n_mels=128 if third else 80,
        ftype={"q5_0": 2008, "q5_1": 2009}.get(name.rsplit("-", maxsplit=1)[-1], 1),
    )


def test_from_the_layout_alone_every_file_of_the_catalogue_has_its_published_size() -> None:
    for entry in CATALOG:
        # Whisper's 50,257 words have these many bytes (its English-only ones are GPT-2's).
        words = [b""] * 50_256 + [bytes(307_057 if entry.multilingual else 320_827)]
        assert written_bytes(published(entry.name), words) == entry.bytes, entry.name
        assert published(entry.name).multilingual == entry.multilingual
        assert published(entry.name).can_translate == entry.can_translate


def write_hollow(path: Path, hyper: Hyperparameters) -> None:
    """Write a file with all headers and holes for data: whole to the reader, of no size to the disk."""
    with path.open("wb") as file:
        write_ggml(file, hyper, mel_filters(hyper.n_mels), [b" "] * 50_257, [])
        for name, tensor in expected_tensors(hyper).items():
            file.write(struct.pack("<3i", len(tensor.shape), len(name), tensor.kind))
            file.write(struct.pack(f"<{len(tensor.shape)}i", *reversed(tensor.shape)) + name.encode())
            file.seek(stored_bytes(tensor.kind, tensor.shape), 1)
        file.truncate()


def test_a_model_of_three_gigabytes_is_read_through_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    write_hollow(path, published("large-v3"))
    assert path.stat().st_size > 3_000_000_000
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    model = read_model(path)
    took = time.perf_counter() - started
    assert len(model.tensors) == 1259
    assert took < 2  # measured: 0.05 s; the aim is 0.2 s
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes
