"""How a row of the list is drawn: title and length, below them the state in words and as a bar."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import icons
from app.job_list_model import JobListModel
from app.job_words import RowWords
from app.look import accent, blend, faint, scaled, secondary, small
from app.wording import clock
from engine.library import Entry

Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ELIDE = Qt.TextElideMode.ElideRight


class JobDelegate(QStyledItemDelegate):
    """Draws headings and entries of a JobListModel."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = QFontMetrics(option.font).height()
        heading = _model(index).entry(index) is None
        return QSize(8 * line, round(line * (2.0 if heading else 3.1)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = _model(index)
        entry = model.entry(index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if entry is None:
            _paint_heading(painter, option, str(index.data()))
        else:
            _paint_ground(painter, option)
            _paint_entry(painter, option, entry, model.words(entry))
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName("New name")
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: Index) -> None:
        inside = _inside(option)
        height = editor.sizeHint().height()
        editor.setGeometry(inside.x() - 4, inside.center().y() - height // 2, inside.width() + 8, height)


def _model(index: Index) -> JobListModel:
    model = index.model()
    assert isinstance(model, JobListModel)
    return model


def _step(option: QStyleOptionViewItem) -> int:
    return max(4, QFontMetrics(option.font).height() // 3)


def _inside(option: QStyleOptionViewItem) -> QRect:
    step = _step(option)
    return option.rect.adjusted(4 * step, step, -4 * step, -step)


def _paint_heading(painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
    painter.setFont(scaled(option.font, 0.85, QFont.Weight.DemiBold))
    palette = QPalette(option.palette)
    palette.setCurrentColorGroup(QPalette.ColorGroup.Active)  # a heading cannot be chosen, but is no less to be read
    painter.setPen(secondary(palette))
    painter.drawText(_inside(option), Qt.AlignmentFlag.AlignBottom, text)


def _paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
    if not selected and not hovered:
        return
    focused = bool(option.widget and option.widget.hasFocus())
    share = (0.30 if focused else 0.18) if selected else 0.07
    step = _step(option)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(blend(accent(option.palette), option.palette.window().color(), share))
    painter.drawRoundedRect(QRectF(option.rect.adjusted(2 * step, 1, -2 * step, -1)), step, step)


def _paint_entry(painter: QPainter, option: QStyleOptionViewItem, entry: Entry, words: RowWords) -> None:
    inside, palette = _inside(option), option.palette
    upper = QRect(inside.x(), inside.y(), inside.width(), inside.height() // 2)
    lower = QRect(inside.x(), upper.bottom() + 1, inside.width(), inside.height() - upper.height())
    quiet = secondary(palette)
    length = clock(entry.duration) if entry.duration else ""
    room = _paint_right(painter, upper, length, small(option.font), quiet)
    _paint_text(
        painter, room, entry.title, option.font, palette.color(QPalette.ColorRole.Text), Qt.TextElideMode.ElideMiddle
    )
    _paint_state(painter, lower, words, small(option.font), palette)


def _paint_state(painter: QPainter, rect: QRect, words: RowWords, font: QFont, palette: QPalette) -> None:
    metrics = QFontMetrics(font)
    quiet = palette.color(QPalette.ColorRole.Text) if words.icon == "warning" else secondary(palette)
    size = metrics.height()
    mark = icons.pixmap(words.icon, quiet, size, painter.device().devicePixelRatioF())
    painter.drawPixmap(rect.x() - size // 8, rect.y() + (rect.height() - size) // 2, mark)
    room = _paint_right(painter, rect.adjusted(size + size // 4, 0, 0, 0), words.right, font, quiet)
    if words.share is None:
        _paint_text(painter, room, words.state, font, quiet)
        return
    width = metrics.horizontalAdvance("100 %")
    painter.setFont(font)
    painter.setPen(quiet)
    painter.drawText(QRect(room.x(), room.y(), width, room.height()), _LEFT, words.state)
    bar = QRectF(room.adjusted(width + size // 2, 0, -size // 4, 0))
    if bar.width() > size:
        _paint_bar(painter, bar, words.share, palette)


def _paint_bar(painter: QPainter, room: QRectF, share: float, palette: QPalette) -> None:
    thick = 4.0
    bar = QRectF(room.x(), room.center().y() - thick / 2 + 0.5, room.width(), thick)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(faint(palette))
    painter.drawRoundedRect(bar, thick / 2, thick / 2)
    painter.setBrush(accent(palette))
    painter.drawRoundedRect(QRectF(bar.x(), bar.y(), max(thick, bar.width() * share), thick), thick / 2, thick / 2)


def _paint_right(painter: QPainter, rect: QRect, text: str, font: QFont, colour: QColor) -> QRect:
    """Draw at the right; what is left for the rest."""
    if not text:
        return rect
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _RIGHT, text)
    metrics = QFontMetrics(font)
    return rect.adjusted(0, 0, -metrics.horizontalAdvance(text) - metrics.height() // 2, 0)


def _paint_text(
    painter: QPainter, rect: QRect, text: str, font: QFont, colour: QColor, elide: Qt.TextElideMode = _ELIDE
) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _LEFT, QFontMetrics(font).elidedText(text, elide, rect.width()))
