"""Our line icons: SVG files of one stroke width, drawn in the palette's text colour."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from app.look import Label, secondary
from engine.resource_files import resource

_STROKE = b'stroke="#000"'  # as every file has it
_SIZES = (16, 20, 24, 32, 48, 64)
_PROPERTY = "icon_name"


def pixmap(name: str, colour: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon in one colour; `size` in device-independent pixels."""
    return _pixmap(name, colour.name(), size, ratio)


def icon(name: str, palette: QPalette | None = None) -> QIcon:
    """The icon for buttons and menus, in the colours of enabled and disabled text."""
    colours = palette or QGuiApplication.palette()
    made = QIcon()
    for mode, group in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled),
    ):
        colour = colours.color(group, QPalette.ColorRole.ButtonText)
        for size in _SIZES:
            made.addPixmap(pixmap(name, colour, size), mode)
    return made


def set_icon(target: QAction | QAbstractButton, name: str) -> None:
    """Give a button or action its icon, and remember which, so that `recolour` can draw it again."""
    target.setProperty(_PROPERTY, name)
    target.setIcon(icon(name))


def recolour(root: QObject) -> None:
    """Draw all icons below `root` again: the palette has changed."""
    for kind in (QAction, QAbstractButton):
        for target in root.findChildren(kind):
            name = target.property(_PROPERTY)
            if name:
                target.setIcon(icon(name))


class Picture(Label):
    """An icon that stands by itself, in the colour of the text around it, also when that changes."""

    def __init__(self) -> None:
        super().__init__()
        self._name, self._size = "", 0
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def show_icon(self, name: str, size: int) -> None:
        """Show this icon; `size` in device-independent pixels."""
        self._name, self._size = name, size
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._name:
            self._draw()

    def _draw(self) -> None:
        self.setPixmap(pixmap(self._name, secondary(self.palette()), self._size, self.devicePixelRatioF()))


def app_icon() -> QIcon:
    """The program's own picture."""
    return QIcon(str(resource("icons", "sottovoce.svg")))


@cache
def _drawing(name: str) -> bytes:
    return resource("icons", f"{name}.svg").read_bytes()


@cache
def _pixmap(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    drawing = _drawing(name).replace(_STROKE, f'stroke="{colour}"'.encode())
    picture = QPixmap(QSize(size, size) * ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(drawing)).render(painter, QRectF(0, 0, picture.width(), picture.height()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture
