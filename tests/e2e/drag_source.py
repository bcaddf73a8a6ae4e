"""A small window from which the tests drag files, as a file manager would: drag_source.py FILE…"""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel


class Source(QLabel):
    """Drags all its files when the mouse moves with the button down."""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(name) for name in sys.argv[1:]])
            drag = QDrag(self)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)


app = QApplication(sys.argv)
source = Source("drag from here")
source.setWindowTitle("drag source")
source.setGeometry(10, 30, 160, 120)
source.show()
sys.exit(app.exec())
