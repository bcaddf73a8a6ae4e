"""Transcribe a file again, with another model or language: always as a new entry, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from app.jobs import Jobs
from engine.errors import EngineError
from engine.library import Entry


class Rerun(QObject):
    """`models` gives the names of the models that are here."""

    added = Signal(int)  # the id of a new entry
    said = Signal(str)
    get_models = Signal()

    def __init__(self, jobs: Jobs, models: Callable[[], list[str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs, self._models = jobs, models

    def with_model(self, entries: Sequence[Entry], model: str) -> None:
        """Again with another model."""
        for entry in entries:
            self._again(entry, model=model)

    def with_language(self, entry: Entry, code: str) -> None:
        """Again as another language."""
        self._again(entry, language=code)

    def menu(self, entries: Callable[[], Sequence[Entry]]) -> QMenu:
        """A menu of models for these entries, filled when it opens."""
        menu = QMenu("Transcribe again with")
        menu.aboutToShow.connect(lambda: self._fill(menu, entries))
        return menu

    def _fill(self, menu: QMenu, entries: Callable[[], Sequence[Entry]]) -> None:
        menu.clear()
        used = {entry.options.model for entry in entries()}
        for model in self._models():
            action = menu.addAction(f"{model} (again)" if used == {model} else model)
            action.triggered.connect(lambda _checked, name=model: self.with_model(entries(), name))
        menu.addSeparator()
        menu.addAction("More models…").triggered.connect(lambda _checked: self.get_models.emit())

    def _again(self, entry: Entry, **changes: str) -> None:
        try:
            self.added.emit(self._jobs.rerun(entry.id, replace(entry.options, **changes)))  # type: ignore[arg-type]
        except EngineError as error:
            self.said.emit(str(error))
