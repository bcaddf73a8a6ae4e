"""Above the transcript: its name, how long it is, in which language, from which track."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.job_words import share_of
from app.jobs import Live
from app.language_picker import LanguagePicker
from app.look import Elided, Hairline, Quiet, scaled, small, tip, unit
from app.wording import clock, model_label
from engine.languages import language_name
from engine.library import Entry


class PageHeader(QWidget):
    """`language_picked`: transcribe again as this language."""

    language_picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: Entry | None = None
        self._title = Elided()
        self._title.setFont(scaled(self.font(), 1.35, QFont.Weight.DemiBold))
        self._facts = Quiet()
        self._language = QToolButton(autoRaise=True)
        self._language.setFont(small(self.font()))
        self._language.setToolTip("Not right? Transcribe it again as another language…")
        self._language.clicked.connect(self._pick)
        self._picker = LanguagePicker(self)
        self._picker.picked.connect(self.language_picked)
        self.line = Hairline()
        step = unit(self)
        facts = QHBoxLayout()
        facts.setSpacing(step // 2)
        facts.addWidget(self._facts)
        facts.addWidget(self._language)
        facts.addStretch(1)
        self._inner = QVBoxLayout()
        self._inner.setSpacing(step // 2)
        self._inner.addWidget(self._title)
        self._inner.addLayout(facts)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(self._inner)
        outer.addWidget(self.line)
        self.set_bounds(2 * step, 2 * step)

    def set_bounds(self, left: int, right: int) -> None:
        """Stand above the text: margins at both sides in pixels."""
        step = unit(self)
        self._inner.setContentsMargins(left, 2 * step + step // 2, right, step + step // 2)

    def show_entry(self, entry: Entry, live: Live | None) -> None:
        """Say what is known of an entry by now."""
        self._entry = entry
        self._title.setText(entry.title)
        self._title.setToolTip(tip(entry.title))
        known = (clock(entry.duration) if entry.duration else "", _track(entry), model_label(entry.options.model))
        self._facts.setText(" · ".join(filter(None, known)) + (" ·" if entry.language else ""))
        self._language.setVisible(bool(entry.language))
        self._language.setText(f"{language_words(entry)} ▾")
        self._language.setAccessibleName(f"Language: {language_words(entry)}. Transcribe again as another language")
        self.line.set_share(share_of(entry, live) or 0.0)

    def _pick(self) -> None:
        if self._entry is not None:
            model = self._entry.options.model
            self._picker.open_below(self._language, model, self._entry.language or "", with_auto=False)


def language_words(entry: Entry) -> str:
    """English 0.98; translated ones say so."""
    if not entry.language:
        return ""
    sure = f" {entry.language_probability:.2f}" if entry.language_probability is not None else ""
    translated = ", translated" if entry.options.task == "translate" else ""
    return f"{language_name(entry.language)}{sure}{translated}"


def _track(entry: Entry) -> str:
    """The track is named when the file's author named it or the user chose it."""
    if entry.options.track:
        return f"track {entry.options.track}" + (f" ({entry.track_name})" if entry.track_name else "")
    return f"track “{entry.track_name}”" if entry.track_name else ""
