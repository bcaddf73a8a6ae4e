"""The page about live text: the last run of each kind, with what it found."""

from __future__ import annotations

from pathlib import Path

from live_report import Delays, LiveDelays, MicErrors, keep
from machine import Machine
from score import Score

MACHINE = Machine("2026-12-01", "a processor", 2, (), (), "Linux", 0.1, {}, "abc")


def test_a_run_takes_the_place_of_the_last_one_of_its_name_and_leaves_the_others(tmp_path: Path) -> None:
    delays = Delays([0.5, 0.7, 0.6], [1.0], found=3, words=4, behind=900, drafts=10, sound=4.0)
    keep("onnx", LiveDelays(MACHINE, Delays([9.0], [9.0], sound=1.0), (1.0, 1.2)), tmp_path)
    keep("onnx", MicErrors(MACHINE, 49, Score(10, 100), Score(11, 100), ["“so” of talk.wav"]), tmp_path)
    keep("onnx", LiveDelays(MACHINE, delays, (1.0, 1.2)), tmp_path)
    page = (tmp_path / "live.md").read_text("utf-8")
    assert (
        "| onnx | 3 of 4 | 0.60 s, 0.68 s (3) | 1.00 s, 1.00 s (1) | 1.0 s and 1.2 s | 2.5 | 0.9 s | 0 ms | 0.1 |"
        in page
    )
    assert "| onnx | 49 | 10 of 100 = 10.0% | 11 of 100 = 11.0% | +1.00 points | +1.0 | “so” of talk.wav |" in page
    assert "9.00 s" not in page
