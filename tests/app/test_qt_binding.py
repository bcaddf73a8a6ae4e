"""What we rely on in the Qt binding and was broken in one of its versions."""

from __future__ import annotations

import subprocess
import sys

# PySide6 6.12.0 loses a reference to True with every emit: on Python 3.11 the process aborts after some 600.
EMIT_OFTEN = """
from PySide6.QtCore import QObject, Signal
class Sender(QObject):
    sent = Signal(object)
sender = Sender()
for _ in range(20_000):
    sender.sent.emit((1, 2))
"""


def test_signals_can_be_emitted_any_number_of_times() -> None:
    ended = subprocess.run([sys.executable, "-c", EMIT_OFTEN], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
