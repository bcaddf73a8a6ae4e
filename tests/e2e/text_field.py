"""A window of another program: a text field that writes what is in it to the file that it is given."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication, QPlainTextEdit

application = QApplication([])
field = QPlainTextEdit()
field.setWindowTitle("text field")
field.textChanged.connect(lambda: Path(sys.argv[1]).write_text(field.toPlainText(), encoding="utf-8"))
field.show()
application.exec()
