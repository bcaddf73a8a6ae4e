"""The timing table of the details pane: what a run took, also when that is next to nothing."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.timing_table import TimingTable
from engine.types import Phase, Timings


@pytest.mark.parametrize(
    ("phase", "shown"),
    [
        (Phase("decode", 440, 100), ["decode", "0.4 s", "100", "4.4 ms"]),
        (Phase("encode", 1_290, 3), ["encode", "1.3 s", "3", "0.4 s"]),
        (Phase("words", 0, 3), ["words", "0 ms", "3", "0 ms"]),
    ],
)
def test_a_row_says_how_long_in_all_and_how_long_a_run(qtbot: QtBot, phase: Phase, shown: list[str]) -> None:
    table = TimingTable()
    qtbot.addWidget(table)
    table.show_timings(Timings(2_000, 60_000, (phase,)))
    name, _bar, time, runs, each = table._rows[0]
    assert [name.text(), time.text(), runs.text(), each.text()] == shown
    assert table._total.text() == "Total 2.0 s"
    assert table._speed.text() == "30 × real time"
