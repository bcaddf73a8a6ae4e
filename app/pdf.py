"""Lays out simple HTML from standard input as a PDF on standard output, in a process of its own.

QT_QPA_PLATFORM=offscreen python -m app.pdf < page.html > page.pdf
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF
from PySide6.QtGui import QFont, QGuiApplication, QPageLayout, QPageSize, QPdfWriter, QTextDocument

_MARGIN_MM = 22.0
_TYPE_PT = 11


def main() -> int:
    """Pages are A4 and numbered."""
    application = QGuiApplication(sys.argv[:1])
    document = QTextDocument()
    document.setDefaultFont(QFont(application.font().family(), _TYPE_PT))
    document.setHtml(sys.stdin.buffer.read().decode())
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(document.metaInformation(QTextDocument.MetaInformation.DocumentTitle))
    writer.setCreator("Sottovoce")
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    size = QPageSize(QPageSize.PageSizeId.A4)
    layout = QPageLayout(size, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter)
    writer.setPageLayout(layout)
    document.print_(writer)
    sys.stdout.buffer.write(buffer.data().data())
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
