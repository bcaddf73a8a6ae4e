"""What the reader accepts, whisper.cpp runs: its own loader and decoder, in a process that may die."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.models.ggml import read_model
from engine.models.ggml_types import GgmlType
from engine.models.whisper_layout import WEIGHT_TYPES
from tests.engine.small_models import Small

WHISPER_CPP = """
import os, sys
import _pywhispercpp as cpp, numpy as np
cpp.whisper_log_set(lambda level, text: None)
context = cpp.whisper_init_from_file_with_params(sys.argv[1], cpp.whisper_context_default_params())
assert context is not None, "not loaded"
options = cpp.whisper_full_default_params(cpp.whisper_sampling_strategy.WHISPER_SAMPLING_GREEDY)
options.temperature_inc, options.single_segment, options.max_tokens, options.n_threads = 0.0, True, 4, 2
sound = np.random.default_rng(0).standard_normal(32000).astype(np.float32) * 0.1
code = cpp.whisper_full(context, options, sound, sound.size)
os._exit(code)  # before whisper.cpp says goodbye to a Python that is gone
"""


@pytest.mark.parametrize(
    "change",
    [
        *({"ftype": ftype} for ftype, kind in WEIGHT_TYPES.items() if kind is not GgmlType.F32),
        {"n_vocab": 51865},
        {"n_vocab": 51866, "n_mels": 128},
        {"n_audio_layer": 3, "n_text_layer": 2},
    ],
)
def test_what_the_reader_accepts_whisper_cpp_loads_and_runs(
    small: Small, tmp_path: Path, change: dict[str, int]
) -> None:
    path = replace(small, hyper=replace(small.hyper, **change)).write(tmp_path / "ä ☃.bin", change.get("ftype", 1))
    assert read_model(path).hyper.ftype == change.get("ftype", 1)
    ran = subprocess.run([sys.executable, "-c", WHISPER_CPP, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
