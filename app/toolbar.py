"""The row above everything: open, how the next files are transcribed, and what can be done with a transcript."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.icons import set_icon
from app.language_picker import LanguagePicker
from app.settings import Settings
from app.wording import model_label
from engine.languages import AUTO, language_name
from engine.models.catalog import can_translate, human_size, is_multilingual
from engine.models.store import ModelStore, is_model_name
from engine.types import Options, Task

_TASKS: dict[Task, str] = {"transcribe": "Transcribe", "translate": "Translate into English"}


class Toolbar(QToolBar):
    """Shows the settings for the next files and changes them."""

    more_models = Signal()

    def __init__(self, settings: Settings, store: ModelStore, parent: QWidget | None = None) -> None:
        super().__init__("Toolbar", parent)
        self._settings, self._store = settings, store
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        side = self.fontMetrics().height() + 4
        self.setIconSize(QSize(side, side))
        self.open = QAction("Open", self)
        set_icon(self.open, "open")
        self.open.setToolTip("Open recordings or videos (Ctrl+O)")
        self.record = self._button("Record", "Record a microphone, and read the words as they are said (Ctrl+R)")
        set_icon(self.record, "record")
        self.record.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model = self._button("Model", "Which Whisper model transcribes the next files (Ctrl+M)")
        self.language = self._button("Language", "What is spoken in the next files (Ctrl+L)")
        self.task = self._button("Task", "Write what is said, or translate it into English (Ctrl+Shift+T)")
        self.export = self._button("Export", "Save as subtitles, text or JSON (Ctrl+E)")
        set_icon(self.export, "export")
        self.export.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        _label(self.export, "Export")
        self.picker = LanguagePicker(self)
        self.model_menu, self.task_menu = QMenu(self), QMenu(self)
        self.details = QAction("Details", self, checkable=True)
        set_icon(self.details, "details")
        self._fill()
        self._connect()
        self.refresh()

    def options(self) -> Options:
        """How a file that comes now is transcribed: the settings, as far as the model can do what they ask for."""
        options = self._settings.options()
        if not self._can_translate():
            options = replace(options, task="transcribe")
        return options if self._is_multilingual() else replace(options, language="en")

    def use_model(self, name: str) -> None:
        """Transcribe the next files with this model."""
        self._change(model=name)

    def models(self) -> list[str]:
        """The names of the models that are here."""
        return [model.name for model in self._store.list()]

    def refresh(self) -> None:
        """Show the settings, after a change or when models came or went."""
        now = self.options()
        _label(self.model, f"Model: {model_label(now.model)}")
        language = "auto" if now.language == AUTO else language_name(now.language)
        _label(self.language, f"Language: {language}")
        self.language.setEnabled(self._is_multilingual())
        self.language.setToolTip(
            "What is spoken in the next files (Ctrl+L)" if self._is_multilingual() else "This model knows only English."
        )
        _label(self.task, f"Task: {now.task}")

    def show_languages(self) -> None:
        """Open the list of languages."""
        now = self.options()
        self.picker.open_below(self.language, now.model, now.language)

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _fill(self) -> None:
        self.addAction(self.open)
        self.addWidget(self.record)
        self.addWidget(_stretch())
        for button in (self.model, self.language, self.task):
            self.addWidget(button)
        self.addWidget(_stretch())
        self.addWidget(self.export)
        self.addAction(self.details)
        for action in (self.open, self.details):
            button = self.widgetForAction(action)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setAccessibleName(action.text())
        button = self.widgetForAction(self.details)
        assert isinstance(button, QToolButton)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.details.setToolTip("Timing, model and notices of the run (F4)")

    def _connect(self) -> None:
        self.model_menu.aboutToShow.connect(self._fill_models)
        self.task_menu.aboutToShow.connect(self._fill_tasks)
        self.model.clicked.connect(lambda: pop_up(self.model_menu, self.model))
        self.task.clicked.connect(lambda: pop_up(self.task_menu, self.task))
        self.language.clicked.connect(self.show_languages)
        self.picker.picked.connect(lambda code: self._change(language=code))

    def _fill_models(self) -> None:
        menu = self.model_menu
        menu.clear()
        group = QActionGroup(menu)
        for model in self._store.list():
            action = menu.addAction(f"{model.name}\t{human_size(model.bytes)}")
            action.setCheckable(True)
            action.setChecked(model.name == self._settings.values.model)
            action.triggered.connect(lambda _checked, name=model.name: self._change(model=name))
            group.addAction(action)
        menu.addSeparator()
        menu.addAction("More models…").triggered.connect(lambda _checked: self.more_models.emit())

    def _fill_tasks(self) -> None:
        menu = self.task_menu
        menu.clear()
        group = QActionGroup(menu)
        for task, label in _TASKS.items():
            possible = task == "transcribe" or self._can_translate()
            action = menu.addAction(label if possible else f"{label} (not with {self._settings.values.model})")
            action.setCheckable(True)
            action.setChecked(task == self.options().task)
            action.setEnabled(possible)
            action.triggered.connect(lambda _checked, task=task: self._change(task=task))
            group.addAction(action)

    def _change(self, **changes: str) -> None:
        self._settings.change(**changes)  # type: ignore[arg-type]  (the values are those of the menus)
        self.refresh()

    def _can_translate(self) -> bool:
        name = self._settings.values.model
        stored = self._store.get(name) if is_model_name(name) else None  # it may be a path
        return stored.can_translate if stored else can_translate(name)

    def _is_multilingual(self) -> bool:
        name = self._settings.values.model
        stored = self._store.get(name) if is_model_name(name) else None
        return stored.multilingual if stored else is_multilingual(name)


def pop_up(menu: QMenu, button: QToolButton) -> None:
    """Open a menu below a button, without waiting for it to close."""
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))


def _label(button: QToolButton, text: str) -> None:
    """The text with the sign of a menu, which is not read aloud."""
    button.setText(f"{text} ▾")
    button.setAccessibleName(text)


def _stretch() -> QWidget:
    """Pushes its neighbours apart."""
    space = QWidget()
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return space
