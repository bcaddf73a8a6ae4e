"""What ONNX Runtime makes of the graphs: attention, norm and GELU are one operator each, a bias is in its product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest

from engine.graphs.cache import graphs_for
from engine.types import Precision
from tests.engine.small_models import Small

F16 = 1


@pytest.fixture
def operators(small: Small, tmp_path: Path) -> Callable[[Precision, str], Counter[str]]:
    """Counts the operators of the small model's graph after ONNX Runtime's own optimisation."""

    def counted(precision: Precision, graph: str) -> Counter[str]:
        model = small.write(tmp_path / "model.bin", F16)
        folder, _ = graphs_for(model, "small", precision, tmp_path, lambda _done, _of: None)
        options = ort.SessionOptions()
        options.log_severity_level = 3  # it warns that what it writes is for this machine only
        options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
        ort.InferenceSession(str(folder / f"{graph}.onnx"), options, providers=["CPUExecutionProvider"])
        optimised = onnx.load(tmp_path / "optimised.onnx", load_external_data=False)
        return Counter(node.op_type for node in optimised.graph.node)

    return counted


def test_the_int8_encoder_is_fused(operators: Callable[[Precision, str], Counter[str]]) -> None:
    found = operators("int8", "encoder")
    assert found["MultiHeadAttention"] == 1
    assert found["MatMulNBits"] == 4  # query, key and value in one; out; two of the network
    assert found["LayerNormalization"] == 3
    assert found["Gelu"] == 3
    assert found["Add"] == 3  # positions, and two into the residual stream: no bias
    assert not found.keys() & {"Softmax", "Erf", "MatMul", "Cast"}


def test_the_int8_decoder_is_fused(operators: Callable[[Precision, str], Counter[str]]) -> None:
    found = operators("int8", "decoder")
    assert found["MatMulNBits"] == 7  # query, key and value in one; out; query and out across; two; logits
    assert found["MatMul"] + found["FusedMatMul"] == 4  # scores and mixing, twice
    assert found["Add"] == 5  # positions, mask, and three into the residual stream
    assert not found.keys() & {"Erf", "ReduceMean"}


def test_cross_is_one_product_a_layer(operators: Callable[[Precision, str], Counter[str]]) -> None:
    assert operators("int8", "cross") == Counter(Transpose=2, Reshape=2, MatMulNBits=1, Split=1)


@pytest.mark.parametrize("graph", ["encoder", "decoder"])
def test_fp32_graphs_have_their_weights_unpacked_once(
    operators: Callable[[Precision, str], Counter[str]], graph: str
) -> None:
    found = operators("fp32", graph)
    assert found["BiasGelu"] == 1
    assert found["Cast"] == (graph == "decoder")  # of the rows of the embedding that are looked up
    assert not found.keys() & {"Erf", "ReduceMean"}
