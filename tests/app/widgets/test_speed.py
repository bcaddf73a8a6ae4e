"""What `make bench-ui` measures, with a tenfold ceiling: machines may be slow and busy, but not ten times so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from engine.library import Library
from tests.measure.sample_library import ENGLISH, add_done, segments

ROOT = Path(__file__).resolve().parents[3]
BENCH = ROOT / "tests" / "measure" / "bench_ui.py"


@pytest.fixture(scope="module")
def figures() -> dict[str, tuple[float, float]]:
    """Every figure with a target, and the target; measured in a process of its own, once."""
    command = [sys.executable, "-P", str(BENCH), "--for-tests"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)
    rows = [line.split("\t") for line in ended.stdout.splitlines() if line.count("\t") == 2]
    assert rows, ended.stderr
    return {name: (float(value), float(target)) for name, value, target in rows}


@pytest.mark.parametrize("name", ["first paint", "longest slot", "opening", "scroll step"])
def test_the_window_is_never_ten_times_slower_than_promised(figures: dict[str, tuple[float, float]], name: str) -> None:
    ((value, target),) = (figure for text, figure in figures.items() if text.startswith(name))
    assert value <= 10 * target


def test_a_long_transcript_is_read_by_pieces_that_leave_the_loop_free(
    open_window: Callable[[], MainWindow], library: Library, qtbot: QtBot
) -> None:
    entry = add_done(library, "long.wav", "en", segments(ENGLISH, 3_000), 0)
    window = open_window()
    reads = 0
    page_of = window.page.model

    def count(_parent: object, first: int, last: int) -> None:
        nonlocal reads
        reads += 1
        assert last - first < 600

    page_of.rowsInserted.connect(count)
    window.page.show_entry(None)
    window.page.show_entry(entry.id)
    qtbot.waitUntil(lambda: page_of.rowCount() == 3_000, timeout=20_000)
    assert reads >= 4


def test_the_window_loads_no_native_machine_learning_library_and_no_network() -> None:
    look = (
        "import sys, app.main_window, app.export_job, app.models_dialog;"
        "print([name for name in ('numpy', 'onnxruntime', 'onnx', 'av', 'pywhispercpp', '_pywhispercpp', 'httpx')"
        " if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout.strip() == "[]"


def test_writing_an_export_needs_no_qt() -> None:
    look = "import sys, app.export_job; print([name for name in sys.modules if name.startswith('PySide6')])"
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout.strip() == "[]"
