"""One model in the list of models: what it is, whether it is here, and the button for what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QGridLayout, QProgressBar, QPushButton, QStackedWidget

from app.look import Label, Quiet, scaled, tip
from engine.models.catalog import CatalogEntry, find, human_size
from engine.models.store import StoredModel

_SURE_MS = 5_000  # how long "Remove 1.5 GB?" waits for the second click
_STEPS = 1_000  # of the bar; bytes do not fit into Qt's int


class ModelRow:
    """The widgets of one row of a grid; `button` downloads or removes, `cancel` ends a download."""

    def __init__(self, name: str, size: int, grid: QGridLayout, row: int) -> None:
        self.name, self._size, self._built = name, size, 0
        self._name, self._note = Label(name), Quiet()
        self._bytes = Quiet(human_size(size))
        self.button, self.cancel = QPushButton(), QPushButton("Cancel")
        self.cancel.setAccessibleName(f"Cancel the download of {name}")
        self._bar = QProgressBar(maximum=_STEPS)
        self._bar.setAccessibleName(f"Download of {name}")
        self._middle = QStackedWidget()
        self._middle.addWidget(self._note)
        self._middle.addWidget(self._bar)
        self._right = QStackedWidget()
        self._right.addWidget(self.button)
        self._right.addWidget(self.cancel)
        self._sure = QTimer(self.button, singleShot=True, interval=_SURE_MS)
        self._sure.timeout.connect(lambda: self._label("Remove"))
        for column, widget in enumerate((self._name, self._bytes, self._middle, self._right)):
            grid.addWidget(widget, row, column)

    def show_state(self, stored: StoredModel | None, error: str = "", built: int = 0) -> None:
        """Here or not; `error` says why the last try failed, `built` how many bytes were made of the model since."""
        self._built = built
        self._middle.setCurrentWidget(self._note)
        self._right.setCurrentWidget(self.button)
        self._name.setFont(scaled(self._name.font(), 1.0, QFont.Weight.DemiBold if stored else QFont.Weight.Normal))
        self._note.setText(error or note(find(self.name), stored, built))
        self._note.setToolTip(tip(error or (stored.source if stored else "")))
        self._label("Remove" if stored else "Download")

    def show_progress(self, done: int) -> None:
        """So many bytes are here."""
        self._middle.setCurrentWidget(self._bar)
        self._right.setCurrentWidget(self.cancel)
        self._bar.setValue(min(_STEPS, done * _STEPS // max(1, self._size)))
        self._bar.setFormat(f"{human_size(done)} of {human_size(self._size)}")

    def is_sure(self) -> bool:
        """Whether this click on "Remove" is the second one; the first asks, in the button itself."""
        if self._sure.isActive():
            self._sure.stop()
            return True
        self._label(f"Remove {human_size(self._size + self._built)}?")
        self._sure.start()
        return False

    def _label(self, text: str) -> None:
        self.button.setText(text)
        self.button.setAccessibleName(f"{text}: {self.name}")


def note(entry: CatalogEntry | None, stored: StoredModel | None, built: int = 0) -> str:
    """What to know of a model: where it came from, what it cannot do, what else it takes on the disk."""
    known = stored or entry
    limits = "" if known is None or known.can_translate else "does not translate"
    if known is not None and not known.multilingual:
        limits = "English only"
    origins = {"download": "here", "import": "imported", "found": "put here by hand"}
    more = f"{human_size(built)} more prepared for this computer" if built else ""
    return ", ".join(filter(None, (origins[stored.origin] if stored else "", limits, more)))
