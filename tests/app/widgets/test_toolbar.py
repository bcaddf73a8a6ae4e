"""What the next files are transcribed with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolButton
from pytestqt.qtbot import QtBot

from app.language_picker import LanguagePicker
from app.main_window import MainWindow
from app.settings import Settings
from app.toolbar import Toolbar
from engine.folders import models_folder
from engine.languages import LANGUAGES, languages_of
from engine.models.store import ModelStore
from tests.measure.sample_library import folder_of

OpenWindow = Callable[[], MainWindow]


@pytest.fixture
def toolbar(settings: Settings, tmp_path: Path, qtbot: QtBot) -> Toolbar:
    made = Toolbar(settings, ModelStore(models_folder(folder_of(tmp_path))))
    qtbot.addWidget(made)
    return made


def filled(menu: QMenu) -> dict[str, bool]:
    """What a menu offers, and whether it can be chosen."""
    menu.aboutToShow.emit()
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


def choose(menu: QMenu, text: str) -> None:
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text().startswith(text)).trigger()


def test_the_models_that_are_here_are_offered(toolbar: Toolbar, settings: Settings) -> None:
    assert [text.split("\t")[0] for text in filled(toolbar.model_menu)] == [
        "tiny.en",
        "base",
        "small-q5_1",
        "More models…",
    ]
    choose(toolbar.model_menu, "small-q5_1")
    assert settings.values.model == "small-q5_1"
    assert toolbar.model.text() == "Model: small-q5_1 ▾"


def test_an_english_model_knows_no_other_language_and_does_not_translate(toolbar: Toolbar, settings: Settings) -> None:
    settings.change(language="de", task="translate")
    choose(toolbar.model_menu, "tiny.en")
    assert (toolbar.options().language, toolbar.options().task) == ("en", "transcribe")
    assert not toolbar.language.isEnabled()
    assert "only English" in toolbar.language.toolTip()
    assert filled(toolbar.task_menu) == {"Transcribe": True, "Translate into English (not with tiny.en)": False}
    choose(toolbar.model_menu, "base")
    assert (toolbar.options().language, toolbar.options().task) == ("de", "translate")


def test_turbo_does_not_translate(toolbar: Toolbar, settings: Settings) -> None:
    settings.change(model="large-v3-turbo")
    assert filled(toolbar.task_menu)["Translate into English (not with large-v3-turbo)"] is False


def test_a_model_that_is_not_here_is_shown_all_the_same(toolbar: Toolbar, settings: Settings) -> None:
    settings.change(model="/models/of mine/ggml-tuned.bin")
    toolbar.refresh()
    assert toolbar.model.text() == "Model: ggml-tuned.bin ▾"


def test_a_language_is_found_by_typing(open_window: OpenWindow, settings: Settings) -> None:
    window = open_window()
    QTest.keyClick(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    field = window.toolbar.picker._field
    QTest.keyClicks(field, "span")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert settings.values.language == "es"
    assert window.toolbar.language.text() == "Language: Spanish ▾"
    assert not window.toolbar.picker.isVisible()


def test_the_list_of_languages_is_walked_with_arrows(open_window: OpenWindow, settings: Settings) -> None:
    window = open_window()
    window.toolbar.show_languages()
    field = window.toolbar.picker._field
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return):
        QTest.keyClick(field, key)
    assert settings.values.language == next(iter(LANGUAGES))


def test_what_begins_with_the_typed_letters_is_preferred(qtbot: QtBot) -> None:
    anchor = QToolButton()
    qtbot.addWidget(anchor)
    anchor.show()
    window = LanguagePicker(anchor)
    window.open_below(anchor, "base", "auto")
    window._field.setText("ma")
    assert str(window._list.currentIndex().data()).startswith("Ma")
    window._field.setText("no such language")
    with qtbot.assertNotEmitted(window.picked):
        QTest.keyClick(window._field, Qt.Key.Key_Return)


def test_there_are_whispers_ninety_nine_languages_and_cantonese_for_large_v3() -> None:
    assert len(LANGUAGES) == 99
    assert "yue" in languages_of("large-v3-turbo-q5_0")
    assert "yue" not in languages_of("large-v2")
