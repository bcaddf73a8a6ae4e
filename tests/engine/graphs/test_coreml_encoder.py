"""The Core ML program is Whisper's encoder on real weights and speech, with the names and types that it must have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import Code, EngineError
from engine.folders import models_folder
from engine.graphs.cache import graphs_for
from engine.graphs.coreml_encoder import INPUT, OUTPUT, CoremlOptions, block_ranges
from engine.graphs.coreml_package import write_package
from engine.graphs.mil_eval import Arithmetic, Package, Port, ProgramError
from engine.graphs.onnx_runtime import OnnxGraphs
from engine.graphs.plain_encoder import plainly_encoded
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.models.whisper_layout import Hyperparameters
from engine.types import Precision
from tests.engine.graphs.coreml_programs import ROUNDED, SCALED, UNSCALED, WIDE, Encoders, off, package
from tests.engine.graphs.reference import Reference
from tests.engine.small_models import Small

JFK = "en_jfk_44k_stereo.flac"
CLIPS = [JFK, "en_LJ001-0001.wav", "en_fleurs_000.ogg"]
MelOf = Callable[[GgmlModel, int], NDArray[np.float32]]

# Relative L2. A scaled stream keeps its weights at a sixteenth, which makes float16 subnormals of the smallest.
EXACT, EXACT_SCALED, HALVES, EIGHT_BITS = 5e-6, 1e-4, 4e-3, 5e-2

TWO_LAYERS = Small(Hyperparameters(51866, 1500, 128, 2, 2, 448, 128, 2, 2, 128, 2))  # two heads, 128 mel bins
OPERATORS = {
    "add": 5,
    "cast": 2,
    "concat": 2,
    "conv": 14,
    "einsum": 8,
    "expand_dims": 1,
    "gelu": 4,
    "layer_norm": 5,
    "mul": 1,
    "softmax": 4,
    "split": 6,
    "squeeze": 1,
    "transpose": 3,
}


@pytest.fixture(scope="module")
def tiny_encoders(
    tiny: GgmlModel,
    tiny_graphs: Callable[[Precision], OnnxGraphs],
    shared_audio: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Encoders:
    return Encoders(tiny, tiny_graphs("fp32"), shared_audio / "speech", tmp_path_factory.mktemp("tiny.en ☃"))


@pytest.fixture(scope="module")
def base_encoders(data_with_models: Path, shared_audio: Path, tmp_path_factory: pytest.TempPathFactory) -> Encoders:
    file, folder = ModelStore(models_folder(data_with_models)).path("base"), tmp_path_factory.mktemp("base")
    graphs, model = graphs_for(file, "base", "fp32", folder, lambda _done, _of: None)
    return Encoders(model, OnnxGraphs(graphs, 2), shared_audio / "speech", folder)


@pytest.fixture(scope="module")
def two_layers(tmp_path_factory: pytest.TempPathFactory) -> GgmlModel:
    return read_model(TWO_LAYERS.write(tmp_path_factory.mktemp("two layers") / "model.bin", 1))


def test_the_plain_encoder_is_whispers(two_layers: GgmlModel, tiny: GgmlModel, mel_of: MelOf) -> None:
    """What programs are proved against is itself compared with the float64 definition of these tests."""
    for model, frames in ((two_layers, 200), (tiny, 400)):
        mel = mel_of(model, frames)[0]
        assert off(plainly_encoded(model, mel), Reference(model).encoded(mel.astype(np.float64))) < 3e-6


@pytest.mark.real
@pytest.mark.parametrize("clip", CLIPS)
def test_tiny_en_encodes_speech_as_it_should(tiny_encoders: Encoders, clip: str) -> None:
    right = tiny_encoders.plain(clip)
    assert off(tiny_encoders.program(clip, UNSCALED, WIDE), right) < EXACT
    rounded = tiny_encoders.program(clip, SCALED, ROUNDED)
    assert off(rounded, right) < HALVES
    assert tiny_encoders.words(rounded) == tiny_encoders.words_of_onnx(clip)


@pytest.mark.real
def test_the_scaled_stream_costs_little_and_only_without_rounding(tiny_encoders: Encoders) -> None:
    right = tiny_encoders.plain(JFK)
    assert EXACT < off(tiny_encoders.program(JFK, SCALED, WIDE), right) < EXACT_SCALED
    assert off(tiny_encoders.program(JFK, UNSCALED, ROUNDED), right) < HALVES


@pytest.mark.real
def test_base_encodes_speech_as_it_should(base_encoders: Encoders) -> None:
    right = base_encoders.plain(JFK)
    assert off(base_encoders.program(JFK, UNSCALED, WIDE), right) < EXACT
    assert off(base_encoders.program(JFK, SCALED, WIDE), right) < EXACT_SCALED


@pytest.mark.real
@pytest.mark.parametrize("clip", CLIPS)
def test_base_hears_the_words_that_its_onnx_encoder_hears(base_encoders: Encoders, clip: str) -> None:
    rounded = base_encoders.program(clip, SCALED, ROUNDED)
    assert off(rounded, base_encoders.plain(clip)) < HALVES
    assert base_encoders.words(rounded) == base_encoders.words_of_onnx(clip)


@pytest.mark.real
def test_squares_in_float16_spoil_base_only_without_the_scaled_stream(base_encoders: Encoders) -> None:
    """A test of the test: with residuals of their full size some squares are infinite, and the decoder loops."""
    squares = Arithmetic(half_squares=True)
    right = base_encoders.words_of_onnx(JFK)
    assert base_encoders.words(base_encoders.program(JFK, SCALED, squares)) == right
    spoilt = base_encoders.program(JFK, UNSCALED, squares)
    assert off(spoilt, base_encoders.plain(JFK)) > 0.1
    assert base_encoders.words(spoilt) != right


def test_the_program_is_the_one_that_was_proved(two_layers: GgmlModel, tmp_path: Path) -> None:
    """Operators, names, shapes, types and version: whisper.cpp and the Neural Engine depend on each of them."""
    program = package(two_layers, SCALED, tmp_path)
    assert program.operators() == OPERATORS
    assert program.version == 7, "iOS 16, macOS 13"
    assert program.inputs == (Port("logmel_data", (1, 128, 3000), np.float32),)
    assert program.outputs == (Port("output", (1, 1500, 128), np.float32),)


@pytest.mark.parametrize(
    ("options", "more", "bound"),
    [
        (UNSCALED, {"mul": 0}, HALVES),
        (CoremlOptions(fp32_norms=True), {"cast": 2 + 2 * 5 + 2 * 4}, HALVES),
        (CoremlOptions(int8=True), {"constexpr_affine_dequantize": 14}, EIGHT_BITS),
        (CoremlOptions(parts=2), {"identity": 1}, HALVES),
        (CoremlOptions(int8=True, fp32_norms=True, parts=2), {}, EIGHT_BITS),
    ],
    ids=str,
)
def test_every_variant_is_the_same_encoder(
    two_layers: GgmlModel, mel_of: MelOf, tmp_path: Path, options: CoremlOptions, more: dict[str, int], bound: float
) -> None:
    program, mel = package(two_layers, options, tmp_path), mel_of(two_layers, 3000)
    counts = program.operators()
    assert {name: counts.get(name, 0) for name in more} == more
    assert off(program.run({INPUT: mel})[OUTPUT], plainly_encoded(two_layers, mel[0])[None]) < bound


def test_a_pipeline_gives_the_very_numbers_of_the_single_program(
    two_layers: GgmlModel, mel_of: MelOf, tmp_path: Path
) -> None:
    mel = mel_of(two_layers, 3000)
    one, two = (package(two_layers, CoremlOptions(parts=parts), tmp_path).run({INPUT: mel})[OUTPUT] for parts in (1, 2))
    assert np.array_equal(one, two)


def test_other_weights_give_other_numbers(two_layers: GgmlModel, mel_of: MelOf, tmp_path: Path) -> None:
    """The comparison could be blind: with one matrix a tenth larger it must see that."""
    other = TWO_LAYERS.tensors(1)
    other["encoder.blocks.1.attn.value.weight"] *= np.float16(1.1)
    spoilt = read_model(TWO_LAYERS.write(tmp_path / "spoilt.bin", 1, tensors=other))
    mel = mel_of(two_layers, 3000)
    assert (
        off(package(spoilt, SCALED, tmp_path).run({INPUT: mel})[OUTPUT], plainly_encoded(two_layers, mel[0])[None])
        > HALVES
    )


@pytest.mark.parametrize("ftype", [0, 2, 3, 7, 8, 9], ids=["f32", "q4_0", "q4_1", "q8_0", "q5_0", "q5_1"])
def test_a_model_of_any_number_type_can_be_built(small: Small, mel_of: MelOf, tmp_path: Path, ftype: int) -> None:
    model = read_model(small.write(tmp_path / "model.bin", ftype))
    mel = mel_of(model, 3000)
    found = package(model, SCALED, tmp_path).run({INPUT: mel})[OUTPUT]
    assert off(found, plainly_encoded(model, mel[0])[None]) < HALVES


def test_a_weight_that_float16_cannot_hold_is_said(small: Small, tmp_path: Path) -> None:
    tensors = small.tensors(0)
    tensors["encoder.blocks.0.mlp.0.weight"][0, 0] = 1e6
    model = read_model(small.write(tmp_path / "model.bin", 0, tensors=tensors))
    with pytest.raises(EngineError, match=r"mlp\.0\.weight") as caught:
        write_package(model, SCALED, tmp_path / "x.mlpackage")
    assert caught.value.code is Code.MODEL_DAMAGED
    assert [path.name for path in tmp_path.iterdir()] == ["model.bin"]


@pytest.mark.parametrize(("layers", "parts"), [(4, 1), (32, 4), (6, 4), (1, 3), (5, 5)])
def test_parts_share_the_blocks_evenly(layers: int, parts: int) -> None:
    ranges = block_ranges(layers, parts)
    assert [block for part in ranges for block in part] == list(range(layers))
    lengths = [len(part) for part in ranges]
    assert min(lengths) >= 1
    assert max(lengths) - min(lengths) <= 1


def test_the_evaluator_refuses_a_spectrum_of_another_shape(
    two_layers: GgmlModel, mel_of: MelOf, tmp_path: Path
) -> None:
    with pytest.raises(ProgramError, match="logmel_data"):
        package(two_layers, SCALED, tmp_path).run({INPUT: mel_of(two_layers, 2000)})


def test_the_evaluator_sees_that_a_program_contradicts_itself(
    two_layers: GgmlModel, mel_of: MelOf, tmp_path: Path
) -> None:
    write_package(two_layers, SCALED, tmp_path / "x.mlpackage")
    file = tmp_path / "x.mlpackage/Data/com.apple.CoreML/model.mlmodel"
    from coremltools.proto.Model_pb2 import Model  # noqa: PLC0415

    for harm, said in ((_widen, "declared"), (_rename, "reduce_sum"), (_misplace, "weights")):
        spec = Model()
        spec.ParseFromString(file.read_bytes())
        function = spec.mlProgram.functions["main"]
        harm(next(iter(function.block_specializations.values())).operations)
        (tmp_path / "y").mkdir(exist_ok=True)
        spoilt = tmp_path / "y" / f"{said}.mlpackage"
        (spoilt / "Data/com.apple.CoreML").mkdir(parents=True)
        (spoilt / "Data/com.apple.CoreML/weights").symlink_to(file.parent / "weights")
        (spoilt / "Data/com.apple.CoreML/model.mlmodel").write_bytes(spec.SerializeToString())
        with pytest.raises(ProgramError, match=said):
            Package(spoilt).run({INPUT: mel_of(two_layers, 3000)})


def _widen(operations) -> None:
    softmax = next(operation for operation in operations if operation.type == "softmax")
    softmax.outputs[0].type.tensorType.dimensions[1].constant.size += 1


def _rename(operations) -> None:
    next(operation for operation in operations if operation.type == "softmax").type = "reduce_sum"


def _misplace(operations) -> None:
    const = next(
        o for o in operations if o.type == "const" and o.attributes["val"].WhichOneof("value") == "blobFileValue"
    )
    const.attributes["val"].blobFileValue.offset += 64 * 7


def test_models_with_the_same_encoder_are_written_alike(two_layers: GgmlModel, tmp_path: Path) -> None:
    one, other = tmp_path / "one.mlpackage", tmp_path / "other.mlpackage"
    write_package(two_layers, SCALED, one)
    write_package(replace(two_layers, vocabulary=()), SCALED, other)
    weights = "Data/com.apple.CoreML/weights/weight.bin"
    assert (one / weights).read_bytes() == (other / weights).read_bytes()
