"""A sentence with a way out: as a bar above the page, or in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.icons import Picture
from app.look import Label, Quiet, scaled, unit
from app.page_words import Says

Button = tuple[str, Callable[[], None] | QMenu]  # what it says, and what it does or opens


class Bar(QFrame):
    """One line above the page: a sentence, what to do, buttons."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        step = unit(self)
        self._icon = Picture()
        self._text = Label()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(step)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * step, step, 2 * step, step)
        layout.setSpacing(2 * step)
        layout.addWidget(self._icon)
        layout.addWidget(self._text, 1)
        layout.addLayout(self._buttons)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.hide()

    def say(self, text: str, buttons: Sequence[Button], icon: str = "warning") -> None:
        """Show a sentence with its buttons."""
        self._icon.show_icon(icon, self.fontMetrics().height())
        self._text.setText(text)
        self.setAccessibleName(text)
        replace_buttons(self._buttons, buttons)
        self.show()


class Placard(QWidget):
    """The page when there is no text: a picture, a sentence, what to do, buttons; and motion while something works."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        step = unit(self)
        self._icon = Picture()
        self._title, self._todo, self._detail = Label(), Quiet(scale=1.0), Quiet()
        self._title.setFont(scaled(self.font(), 1.3, QFont.Weight.Medium))
        self._busy = QProgressBar(maximum=0, textVisible=False)
        self._busy.setAccessibleName("Working")
        self._busy.setFixedSize(30 * step, max(4, step))
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(2 * step)
        self._buttons.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QWidget()
        column.setMaximumWidth(120 * step)
        inner = QVBoxLayout(column)
        inner.setContentsMargins(4 * step, 4 * step, 4 * step, 4 * step)
        inner.setSpacing(2 * step)
        inner.addStretch(2)
        inner.addWidget(self._icon)
        for label in (self._title, self._todo, self._detail):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            inner.addWidget(label)
        inner.addWidget(self._busy, 0, Qt.AlignmentFlag.AlignHCenter)
        inner.addSpacing(step)
        inner.addLayout(self._buttons)
        inner.addStretch(3)
        layout = QHBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(column, 100)
        layout.addStretch(1)

    def say(self, says: Says, buttons: Sequence[Button]) -> None:
        """Show a state of the page."""
        self._icon.show_icon(says.icon, 3 * self.fontMetrics().height())
        self._title.setText(says.what)
        for label, text in ((self._todo, says.todo), (self._detail, says.detail)):
            label.setText(text)
            label.setVisible(bool(text))
        self._busy.setVisible(says.busy)
        self.setAccessibleName(f"{says.what} {says.todo}".strip())
        replace_buttons(self._buttons, buttons)


def replace_buttons(layout: QHBoxLayout, buttons: Sequence[Button]) -> None:
    """Put these buttons into a row in place of the ones there; the first keeps the focus if one had it."""
    had_focus = False
    while (item := layout.takeAt(0)) is not None:
        if (old := item.widget()) is not None:
            had_focus |= old.hasFocus()
            old.hide()
            old.deleteLater()
    for number, (text, act) in enumerate(buttons):
        button = QPushButton(text)
        button.setAutoDefault(True)
        if isinstance(act, QMenu):
            button.setMenu(act)
        else:
            button.clicked.connect(lambda _checked, act=act: act())
        layout.addWidget(button)
        if had_focus and number == 0:
            button.setFocus()
