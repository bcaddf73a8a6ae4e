"""All keys on one small page (F1)."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from app.look import Label, Quiet, scaled, unit

_KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Anywhere",
        (
            ("Ctrl+O", "Open recordings or videos"),
            ("Ctrl+R", "Record a microphone, or stop"),
            ("Ctrl+Shift+L", "Captions above all windows, or none"),
            ("Ctrl+M", "Choose the model"),
            ("Ctrl+L", "Choose the language"),
            ("Ctrl+Shift+T", "Choose the task"),
            ("Ctrl+E", "Export"),
            ("Ctrl+Shift+C", "Copy all text"),
            ("Ctrl+F", "Search names and text"),
            ("F3", "Next match (Shift+F3: the one before)"),
            ("Ctrl+Z", "Bring back what was removed"),
            ("F4", "Details: timing, model, notices"),
            ("F6", "To the next pane"),
            ("F1", "These keys"),
            ("Shift+F1", "About Sottovoce: versions and licences"),
        ),
    ),
    (
        "In the list",
        (
            ("F2", "Rename"),
            ("Del", "Remove (Ctrl+Z brings it back)"),
            ("Ctrl+.", "Cancel"),
            ("Ctrl+G", "Go on where it was cut off"),
            ("F5", "Retry from the start"),
            ("Ctrl+Shift+R", "Show in folder"),
            ("Ctrl+Alt+P", "Copy path"),
            ("Menu", "All that can be done with it"),
        ),
    ),
    (
        "In the transcript",
        (
            ("Shift+Right", "Select text; all arrows, Home and End do"),
            ("Ctrl+A", "Select all"),
            ("Ctrl+C", "Copy the selected text or the segment"),
            ("Ctrl+Alt+C", "The same with times"),
            ("Ctrl+End", "To the end, and follow it while it grows"),
        ),
    ),
)


class Keys(QDialog):
    """The list of keys, spelled as this system does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        step = unit(self)
        grid = QGridLayout()
        grid.setHorizontalSpacing(4 * step)
        grid.setVerticalSpacing(step // 2)
        row = 0
        for group, keys in _KEYS:
            heading = Label(group)
            heading.setFont(scaled(self.font(), 1.0, QFont.Weight.DemiBold))
            heading.setContentsMargins(0, 2 * step if row else 0, 0, 0)
            grid.addWidget(heading, row, 0, 1, 2)
            for number, (key, what) in enumerate(keys, row + 1):
                spelled = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
                grid.addWidget(Quiet(spelled, 1.0), number, 0, Qt.AlignmentFlag.AlignRight)
                grid.addWidget(Label(what), number, 1)
            row += len(keys) + 1
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * step, 4 * step, 4 * step, 3 * step)
        layout.setSpacing(4 * step)
        layout.addLayout(grid)
        layout.addWidget(buttons)
