"""The list of models: download with progress, cancel, remove, import; the child process does as it is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app import models_dialog
from app.main_window import MainWindow
from app.model_task import ModelTask
from app.models_dialog import ModelsDialog
from app.settings import Settings
from engine.folders import cache_folder, models_folder
from engine.graphs.built import FACTS, BuiltGraphs, graphs_folder
from engine.models.records import Record, write_record
from engine.models.store import ModelStore
from tests.measure.sample_library import folder_of

OpenWindow = Callable[[], MainWindow]

SHA = "0123456789abcdef" * 4

# Stands for `python -m engine models`: writes the part, then the model, when the test lets it.
CHILD = """
import os, sys, time
from pathlib import Path
verb, name = sys.argv[1:3]
data = Path(os.environ["SOTTOVOCE_DATA"])
if verb == "import":
    if "bad" in name:
        sys.exit("sottovoce models: The model cannot be imported. It is no model.")
    (data / "models" / "ggml-mine.bin").write_bytes(b"x")
    sys.exit(0)
if name == "small.en":
    sys.exit("sottovoce models: The download did not finish. There is no network.")
from engine.models.catalog import find
from engine.models.store import ModelStore
store = ModelStore(data / "models")
store.part(find(name)).write_bytes(b"x" * 1_000_000)
while not (data / "go").exists():
    time.sleep(0.01)
store.part(find(name)).rename(store.file(name))
"""


@pytest.fixture
def dialog(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelsDialog]:
    scripted = partial(ModelTask, program=sys.executable, verb=("-P", "-c", CHILD))
    monkeypatch.setattr(models_dialog, "ModelTask", scripted)
    made = ModelsDialog(folder_of(tmp_path), Settings(tmp_path / "settings.json"))
    qtbot.addWidget(made)
    made.show()
    yield made
    made.stop()


def note_of(dialog: ModelsDialog, name: str) -> str:
    return dialog.rows[name]._note.text()


def test_all_models_are_listed_with_what_they_cannot_do(dialog: ModelsDialog) -> None:
    assert list(dialog.rows)[:3] == ["tiny", "tiny.en", "base"]
    assert note_of(dialog, "tiny.en").endswith("English only")
    assert note_of(dialog, "large-v3-turbo") == "does not translate"
    assert dialog.rows["base"].button.text() == "Remove"
    assert dialog.rows["large-v3"].button.text() == "Download"


def test_a_download_shows_how_far_it_is_and_then_can_be_used(
    dialog: ModelsDialog, tmp_path: Path, qtbot: QtBot
) -> None:
    row = dialog.rows["tiny"]
    row.button.click()
    qtbot.waitUntil(lambda: row._bar.text().startswith("1 MB of 78 MB"), timeout=10_000)
    assert row.cancel.isVisible()
    with qtbot.waitSignal(dialog.arrived, timeout=10_000) as arrived:
        (tmp_path / "go").touch()
    assert arrived.args == ["tiny"]
    assert row.button.text() == "Remove"


def test_a_cancelled_download_keeps_what_it_has(dialog: ModelsDialog, tmp_path: Path, qtbot: QtBot) -> None:
    row = dialog.rows["tiny"]
    row.button.click()
    qtbot.waitUntil(lambda: row._bar.text().startswith("1 MB"), timeout=10_000)
    row.cancel.click()
    assert row.button.text() == "Download"
    assert list(models_folder(tmp_path).glob("*.part"))


def test_a_download_that_fails_says_why_in_its_row(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.rows["small.en"].button.click()
    qtbot.waitUntil(lambda: "no network" in note_of(dialog, "small.en"), timeout=10_000)
    assert dialog.rows["small.en"].button.text() == "Download"


def test_removing_asks_in_the_button_itself(dialog: ModelsDialog, tmp_path: Path, qtbot: QtBot) -> None:
    button = dialog.rows["base"].button
    button.click()
    assert button.text() == "Remove 148 MB?"
    assert ModelStore(models_folder(tmp_path)).get("base") is not None
    with qtbot.waitSignal(dialog.changed):
        button.click()
    assert ModelStore(models_folder(tmp_path)).get("base") is None
    assert button.text() == "Download"


def test_what_was_built_of_a_model_is_told_and_goes_with_it(dialog: ModelsDialog, tmp_path: Path) -> None:
    file = ModelStore(models_folder(tmp_path)).file("base")
    write_record(file.with_suffix(".json"), Record("download", "", 0, SHA, 0, multilingual=True, can_translate=True))
    folder = graphs_folder(cache_folder(tmp_path)) / "base"
    folder.mkdir(parents=True)
    (folder / "encoder.weights").write_bytes(bytes(2_000_000))
    (folder / FACTS).write_bytes(msgspec.json.encode(BuiltGraphs(SHA, "int8", 1, 2_000_000)))
    dialog.refresh()
    assert note_of(dialog, "base") == ("here, 2 MB more prepared for this computer")
    button = dialog.rows["base"].button
    button.click()
    assert button.text() == "Remove 150 MB?"
    button.click()
    assert note_of(dialog, "base") == ""
    assert not folder.exists()


def test_a_first_click_on_remove_is_forgotten_after_a_while(dialog: ModelsDialog, qtbot: QtBot) -> None:
    row = dialog.rows["base"]
    row._sure.setInterval(10)
    row.button.click()
    qtbot.waitUntil(lambda: row.button.text() == "Remove")


def test_an_imported_model_joins_the_list(dialog: ModelsDialog, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.changed, timeout=10_000):
        dialog.import_model("/somewhere/mine.bin")
        assert dialog.message.text() == "Importing mine.bin…"
        assert dialog.stop_import.isVisible()
    assert dialog.rows["mine"].button.text() == "Remove"
    assert not dialog.message.isVisible()


def test_an_import_that_fails_says_why(dialog: ModelsDialog, qtbot: QtBot) -> None:
    dialog.import_model("/somewhere/bad.bin")
    qtbot.waitUntil(lambda: "It is no model." in dialog.message.text(), timeout=10_000)
    assert not dialog.stop_import.isVisible()


def test_a_program_that_does_not_start_is_said(tmp_path: Path, qtbot: QtBot, qapp: object) -> None:
    parent = QObject()
    task = ModelTask(tmp_path, ("download", "tiny"), None, parent, program="/no/such/program")
    with qtbot.waitSignal(task.ended) as ended:
        task.start()
    assert ended.args
    assert ended.args[0]


def test_the_toolbar_leads_to_the_models_and_offers_what_arrived(open_window: OpenWindow) -> None:
    window = open_window()
    window.toolbar.more_models.emit()
    assert window.models is not None
    assert window.models.isVisible()
    window.models.arrived.emit("small-q5_1")
    window.status._act.click()
    assert window.toolbar.model.text() == "Model: small-q5_1 ▾"
