"""The program's icon in the forms that Windows and macOS want, made from its SVG file."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

SOURCE = Path(__file__).resolve().parent.parent / "resources" / "icons" / "sottovoce.svg"
_ICNS = {b"icp4": 16, b"icp5": 32, b"icp6": 64, b"ic07": 128, b"ic08": 256, b"ic09": 512, b"ic10": 1024}
_ICO = (16, 24, 32, 48, 64, 128, 256)


def write_icons(folder: Path) -> None:
    """sottovoce.ico and sottovoce.icns; both formats are a table of PNG pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication.instance() or QGuiApplication(["icons"])
    drawing = QSvgRenderer(str(SOURCE))
    pictures = {size: _png(drawing, size) for size in {*_ICNS.values(), *_ICO}}
    (folder / "sottovoce.icns").write_bytes(_icns({kind: pictures[size] for kind, size in _ICNS.items()}))
    (folder / "sottovoce.ico").write_bytes(_ico({size: pictures[size] for size in _ICO}))
    del application


def _png(drawing: QSvgRenderer, size: int) -> bytes:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    drawing.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    return bytes(buffer.data().data())


def _icns(pictures: dict[bytes, bytes]) -> bytes:
    """Each picture behind its kind and its length, both counted in."""
    body = b"".join(kind + struct.pack(">I", len(png) + 8) + png for kind, png in pictures.items())
    return b"icns" + struct.pack(">I", len(body) + 8) + body


def _ico(pictures: dict[int, bytes]) -> bytes:
    """A directory of sizes (0 means 256) and offsets, then the pictures."""
    offset = 6 + 16 * len(pictures)
    directory = struct.pack("<HHH", 0, 1, len(pictures))
    for size, png in pictures.items():
        directory += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), offset)
        offset += len(png)
    return directory + b"".join(pictures.values())
