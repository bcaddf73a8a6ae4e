"""A list of languages that one types into: a search field above it, the choice with Enter or a click."""

# ruff: noqa: D102, N802  (overrides are named and explained by Qt)

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from app.look import unit
from engine.languages import AUTO, languages_of

AUTO_NAME = "Detect automatically"
_CODE = Qt.ItemDataRole.UserRole
_ROWS = 12


class LanguagePicker(QFrame):
    """A popup; `picked` carries the code of a language, or "auto"."""

    picked = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._field = QLineEdit()
        self._field.setPlaceholderText("Type a language")
        self._field.setAccessibleName("Type a language")
        self._field.setClearButtonEnabled(True)
        self._field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(self._model)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._list = QListView()
        self._list.setModel(self._found)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setAccessibleName("Languages")
        self._list.setUniformItemSizes(True)
        self._list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self._list.clicked.connect(lambda _index: self._take())
        self._list.activated.connect(lambda _index: self._take())
        self._field.textChanged.connect(self._filter)
        layout = QVBoxLayout(self)
        step = unit(self)
        layout.setContentsMargins(step, step, step, step)
        layout.setSpacing(step)
        layout.addWidget(self._field)
        layout.addWidget(self._list)

    def open_below(self, anchor: QWidget, model: str, current: str, with_auto: bool = True) -> None:
        """Show the languages a model knows, below a button."""
        self._model.clear()
        languages = languages_of(model)
        for code, name in (({AUTO: AUTO_NAME} if with_auto else {}) | languages).items():
            item = QStandardItem(name)
            item.setData(code, _CODE)
            self._model.appendRow(item)
        self._field.clear()
        self._select(current)
        below = anchor.mapToGlobal(QPoint(0, anchor.height()))
        self.adjustSize()
        screen = anchor.screen().availableGeometry()
        self.move(min(below.x(), screen.right() - self.width()), min(below.y(), screen.bottom() - self.height()))
        self.show()
        self._field.setFocus()

    def sizeHint(self) -> QSize:
        row = max(1, self._list.sizeHintForRow(0))
        width = self.fontMetrics().horizontalAdvance("m" * 18)
        return QSize(width, self._field.sizeHint().height() + _ROWS * row + 4 * unit(self))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows in the field move through the list; Enter takes."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                self._take()
                return True
            if event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp}:
                self._list.event(event)
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self._found.setFilterFixedString(text)
        starts = [row for row in range(self._found.rowCount()) if self._name(row).lower().startswith(text.lower())]
        self._list.setCurrentIndex(self._found.index(starts[0] if starts else 0, 0))

    def _name(self, row: int) -> str:
        return str(self._found.index(row, 0).data())

    def _select(self, code: str) -> None:
        found = self._found.match(self._found.index(0, 0), _CODE, code, 1, Qt.MatchFlag.MatchExactly)
        self._list.setCurrentIndex(found[0] if found else self._found.index(0, 0))

    def _take(self) -> None:
        index = self._list.currentIndex()
        if index.isValid():
            self.hide()
            self.picked.emit(str(index.data(_CODE)))
