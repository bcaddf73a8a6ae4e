"""Which key is held to dictate, and where the words go: nothing is watched until one is chosen here."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QKeySequenceEdit, QPushButton, QVBoxLayout, QWidget

from app.held_key_client import HeldKey
from app.look import Label, Quiet, unit
from app.settings import Settings

_WHAT = (
    "Hold this key in any program, speak, and let it go: what you said is typed there. Sottovoce has to be open, and"
    " sees no other key. On Wayland this is not possible; on macOS the system asks for your leave."
)


class HeldKeyDialog(QDialog):
    """Changes the settings `held_key` and `held_key_types`, and tells `held` at once."""

    def __init__(self, held: HeldKey, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._held, self._settings = held, settings
        self.setWindowTitle("Hold a key to dictate")
        step = unit(self)
        layout = QVBoxLayout(self)
        layout.setSpacing(2 * step)
        about = Label(_WHAT)
        about.setWordWrap(True)
        about.setMinimumWidth(100 * step)
        self.key = QKeySequenceEdit(QKeySequence(settings.values.held_key))
        self.key.setMaximumSequenceLength(1)
        self.key.setClearButtonEnabled(True)
        self.key.setAccessibleName("The key to hold")
        self.types = QCheckBox("Type the words into the program in front (they are in the clipboard as well)")
        self.types.setChecked(settings.values.held_key_types)
        self.state = Quiet()
        self.state.setWordWrap(True)
        buttons = QDialogButtonBox()
        self.use = QPushButton("Use this key")
        self.off = QPushButton("Use none")
        buttons.addButton(self.use, QDialogButtonBox.ButtonRole.ApplyRole)
        buttons.addButton(self.off, QDialogButtonBox.ButtonRole.ResetRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Close)
        for part in (about, self.key, self.types, self.state, buttons):
            layout.addWidget(part)
        self.use.clicked.connect(self._use)
        self.off.clicked.connect(self._use_none)
        buttons.rejected.connect(self.close)
        self.types.toggled.connect(lambda on: settings.change(held_key_types=on))
        held.ready.connect(lambda: self.state.setText("The key is watched now: try it in another program."))
        held.refused.connect(self.state.setText)

    def _use(self) -> None:
        key = self.key.keySequence().toString(QKeySequence.SequenceFormat.PortableText)
        if not key:
            self.state.setText("Press the key, or keys together, in the field first.")
            return
        self.state.setText("")
        self._settings.change(held_key=key)
        self._held.watch(key)

    def _use_none(self) -> None:
        self.key.clear()
        self._settings.change(held_key="")
        self._held.watch("")
        self.state.setText("No key is watched.")
