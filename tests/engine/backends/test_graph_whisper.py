"""Where our own engine's time goes is told as whisper.cpp tells it: a run of "decode" is a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine import memory
from engine.audio.media import open_media
from engine.backends.onnx import load_onnx
from engine.errors import Code, EngineError
from engine.graphs.built import built
from engine.types import Options, Precision


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


@pytest.mark.parametrize(("precision", "fits"), [("int8", True), ("fp32", False)])
def test_a_model_for_which_there_is_not_enough_memory_is_refused_before_anything_is_built(
    tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, precision: Precision, fits: bool
) -> None:
    monkeypatch.setattr(memory, "installed_memory", lambda: 200_000_000)
    options = Options(precision=precision, threads=1)
    if fits:
        load_onnx(options, tiny_file, "tiny", tmp_path, lambda _done, _of: None)
    else:
        with pytest.raises(EngineError) as caught:
            load_onnx(options, tiny_file, "tiny", tmp_path, lambda _done, _of: None)
        assert caught.value.code is Code.OUT_OF_MEMORY
    assert len(list(built(tmp_path))) == fits


def test_words_without_times_are_not_given_so_that_a_segment_keeps_its_own(
    tiny_file: Path, talk: Path, tmp_path: Path
) -> None:
    backend = load_onnx(Options(threads=1), tiny_file, "tiny", tmp_path, lambda _done, _of: None)
    with open_media(talk) as media:
        samples = np.concatenate([block.samples for block in media.blocks()])
    without, with_words = (backend.decode([samples], Options(language="en", words=words))[0] for words in (False, True))
    assert [segment.text for segment in without] == [segment.text for segment in with_words]
    assert not any(segment.words for segment in without)
    assert all(segment.end > segment.start for segment in without)
    assert all(word.end > 0 for segment in with_words for word in segment.words)
