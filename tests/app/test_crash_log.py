"""What nobody caught is written down and said once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.crash_log import LAST, MOST, NAME

START = """
import sys, os, signal
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer, qWarning, qCritical, qFatal
from app.crash_log import CrashLog
application = QCoreApplication([])
log = CrashLog(Path(sys.argv[1]))
print(log.last)
def act():
    {act}
QTimer.singleShot(0, act)
QTimer.singleShot(0, application.quit)
application.exec()
log.close()
"""


def start(data: Path, act: str = "pass") -> str:
    """What a start says of the one before it; its slot does `act`."""
    code = START.replace("{act}", act)
    ended = subprocess.run([sys.executable, "-c", code, data], capture_output=True, text=True, check=False)
    return ended.stdout.strip()


def test_a_start_without_trouble_leaves_no_log(tmp_path: Path) -> None:
    assert start(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []
    assert start(tmp_path) == ""


@pytest.mark.parametrize(
    ("act", "gist"),
    [
        ("raise ValueError('one\\ntwo')", "two"),
        ("int('x')", "ValueError: invalid literal for int() with base 10: 'x'"),
        ("qCritical('Qt says no')", "Qt says no"),
        ("qFatal('Qt gives up')", "Aborted"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "Segmentation fault"),
    ],
)
def test_what_nobody_caught_is_said_once_at_the_next_start(tmp_path: Path, act: str, gist: str) -> None:
    start(tmp_path, act)
    assert start(tmp_path) == f"Last time something went wrong: {gist} (written down in {tmp_path / LAST})"
    assert start(tmp_path) == ""
    assert (tmp_path / LAST).stat().st_size > 0


def test_warnings_of_qt_are_written_down_but_not_told(tmp_path: Path) -> None:
    start(tmp_path, "qWarning('an odd theme')")
    assert "WARNING an odd theme" in (tmp_path / NAME).read_text()
    assert start(tmp_path) == ""


def test_an_error_that_comes_again_and_again_does_not_fill_the_disk(tmp_path: Path) -> None:
    start(tmp_path, "[qCritical('x' * 1000) for _ in range(2000)]")
    assert (tmp_path / NAME).stat().st_size < MOST + 2000
