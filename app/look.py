"""Colours, type and spacing, all of them from the palette and the font metrics: light and dark follow by themselves."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QPainter, QPaintEvent, QPalette
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import QLabel, QWidget

READING_SCALE = 1.22  # the transcript's type against the window's
SMALL_SCALE = 0.9


def blend(over: QColor, under: QColor, share: float) -> QColor:
    """`over` laid on `under` with an opacity of `share`, as one opaque colour."""
    rest = 1.0 - share
    return QColor.fromRgbF(
        over.redF() * share + under.redF() * rest,
        over.greenF() * share + under.greenF() * rest,
        over.blueF() * share + under.blueF() * rest,
    )


def is_dark(palette: QPalette) -> bool:
    """Whether text is lighter than what it stands on."""
    return palette.text().color().lightnessF() > palette.base().color().lightnessF()


def secondary(palette: QPalette) -> QColor:
    """Text that steps back and still has a contrast of 4.5 to 1."""
    return blend(palette.text().color(), palette.base().color(), 0.64)


def faint(palette: QPalette) -> QColor:
    """Marks that need not be read: empty bars, the outline of the drop area."""
    return blend(palette.text().color(), palette.base().color(), 0.16)


def hairline(palette: QPalette) -> QColor:
    """The line between two panes."""
    return blend(palette.windowText().color(), palette.window().color(), 0.16)


def accent(palette: QPalette) -> QColor:
    """The one accent, the system's."""
    return palette.color(QPalette.ColorRole.Accent)


def accent_text(palette: QPalette) -> QColor:
    """The accent as a colour of text: moved towards the text until it can be read on the page."""
    return blend(palette.text().color(), accent(palette), 0.3)


def wash(palette: QPalette, share: float = 0.12) -> QColor:
    """A breath of the accent behind what is current."""
    return blend(accent(palette), palette.base().color(), share)


def scaled(font: QFont, scale: float, weight: QFont.Weight | None = None) -> QFont:
    """The same font in another size."""
    other = QFont(font)
    if font.pointSizeF() > 0:
        other.setPointSizeF(font.pointSizeF() * scale)
    else:
        other.setPixelSize(round(font.pixelSize() * scale))
    if weight is not None:
        other.setWeight(weight)
    return other


def small(font: QFont) -> QFont:
    """For what stands beside or below."""
    return scaled(font, SMALL_SCALE)


def unit(widget: QWidget) -> int:
    """The grid of all spacing: a third of a line, at least 4 pixels."""
    return max(4, QFontMetrics(widget.font()).height() // 3)


class Hairline(QWidget):
    """A line one pixel thin between two panes; over a part of its width it can say how far the work is."""

    def __init__(self, vertical: bool = False) -> None:
        super().__init__()
        self._share = 0.0
        self.setFixedWidth(1) if vertical else self.setFixedHeight(1)

    def set_share(self, share: float) -> None:
        """Draw this share of the line, 0 … 1, in the accent and twice as thick; 0 makes it a plain line again."""
        if share != self._share:
            self._share = share
            self.setFixedHeight(2 if share else 1)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), hairline(self.palette()))
        if self._share:
            painter.fillRect(0, 0, round(self.width() * self._share), self.height(), accent(self.palette()))


def tip(text: str) -> str:
    """The tooltip that shows `text` as it stands: without this, Qt takes what looks like HTML for HTML."""
    return Text.convertFromPlainText(text) if Text.mightBeRichText(text) else text


class Label(QLabel):
    """All labels: names of files and words of other programs are text, never HTML."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)


class Quiet(Label):
    """Text that steps back: secondary colour, a little smaller."""

    def __init__(self, text: str = "", scale: float = SMALL_SCALE) -> None:
        super().__init__(text)
        self.setFont(scaled(self.font(), scale))
        self.setForegroundRole(QPalette.ColorRole.WindowText)  # also on the page, whose text has another role
        self._step_back()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in {QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange}:
            self._step_back()

    def _step_back(self) -> None:
        colour = secondary(QGuiApplication.palette())
        palette = self.palette()
        if palette.color(QPalette.ColorRole.WindowText) != colour:
            palette.setColor(QPalette.ColorRole.WindowText, colour)
            self.setPalette(palette)


class Elided(Label):
    """One line that gives way in its middle when there is no room."""

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance("mmm…"), super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        self.style().drawItemText(
            painter, self.rect(), int(self.alignment()), self.palette(), self.isEnabled(), text, self.foregroundRole()
        )
