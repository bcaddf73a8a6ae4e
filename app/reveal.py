"""Show a file in the system's file manager."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices


def reveal(path: bytes) -> bool:
    """Open the folder of a file, the file selected where the system can do that; False when it is not there."""
    if not os.path.lexists(path):
        return False
    file = Path(os.fsdecode(path))
    if sys.platform == "darwin":
        return bool(QProcess.startDetached("/usr/bin/open", ["-R", str(file)]))
    if sys.platform == "win32":
        return bool(QProcess.startDetached("explorer.exe", ["/select,", str(file)]))
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file.parent)))
