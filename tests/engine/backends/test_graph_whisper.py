"""Where our own engine's time goes is told as whisper.cpp tells it: a run of "decode" is a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.audio.media import open_media
from engine.backends.onnx import load_onnx
from engine.types import Options


def test_every_step_of_the_decoder_is_a_run_and_a_new_table_begins_empty(
    tiny_file: Path, talk: Path, tmp_path: Path
) -> None:
    options = Options(language="en", threads=1)
    backend = load_onnx(options, tiny_file, "tiny", tmp_path, lambda _done, _of: None)
    with open_media(talk) as media:
        samples = np.concatenate([block.samples for block in media.blocks()])
    (segments,) = backend.decode([samples], options)
    phases = {phase.name: phase for phase in backend.phases()}
    assert list(phases) == ["mel", "encode", "cross", "decode", "sample", "words"]
    assert len("".join(segment.text for segment in segments).split()) < phases["decode"].runs < 60
    assert [phases[name].runs for name in ("mel", "encode", "cross", "sample")] == [1, 1, 1, 1]
    assert phases["decode"].ms > phases["sample"].ms
    backend.reset_phases()
    assert backend.phases() == ()
    backend.decode([samples], options)
    again = {phase.name: phase for phase in backend.phases()}
    assert again["decode"].runs == phases["decode"].runs
