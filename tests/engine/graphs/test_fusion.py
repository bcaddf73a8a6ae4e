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
    assert found["DynamicQuantizeMatMul"] == 4  # query, key and value in one; out; two of the network
    assert found["LayerNormalization"] == 3
    assert found["Gelu"] == 3
    assert found["Add"] == 3  # positions, and two into the residual stream: no bias
    assert found["Mul"] == 1  # of the network's loud channels
    assert not found.keys() & {"Softmax", "Erf", "MatMul", "Cast"}


def test_the_int8_decoder_is_fused(operators: Callable[[Precision, str], Counter[str]]) -> None:
    found = operators("int8", "decoder")
    assert found["MatMulNBits"] == 7  # query, key and value in one; out; query and out across; two; logits
    assert found["MultiHeadAttention"] == 1  # with the cache in it: nothing is transposed or joined
    assert found["SkipLayerNormalization"] == 3
    assert found["MatMulInteger"] == 3  # cross attention: scores, and twice the mixing
    assert found["Concat"] == 1  # of the alignment heads
    assert not found["MatMul"]
    assert not found.keys() & {"Erf", "ReduceMean"}


def test_cross_is_one_product_a_layer(operators: Callable[[Precision, str], Counter[str]]) -> None:
    found = operators("int8", "cross")
    assert found["DynamicQuantizeMatMul"] == 1
    assert found["QuantizeLinear"] == 1
    assert found["MatMulInteger"] == 1  # of the keys with what stands for a query of zeros


@pytest.mark.parametrize("graph", ["encoder", "decoder"])
def test_fp32_graphs_have_their_weights_unpacked_once(
    operators: Callable[[Precision, str], Counter[str]], graph: str
) -> None:
    found = operators("fp32", graph)
    assert found["BiasGelu"] == 1
    assert found["Cast"] == (graph == "decoder")  # of the rows of the embedding that are looked up
    assert not found.keys() & {"Erf", "ReduceMean"}
