"""The line under a model on a Mac: hidden elsewhere; it prepares, shows each state and why, cancels and turns off."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import neural_line
from app.model_task import ModelTask
from app.models_dialog import ModelsDialog
from app.settings import Settings
from engine.backends import coreml_runtime
from engine.coreml.records import CoremlRecord, State, coreml_folder, read_record, working_on, write_record
from engine.folders import cache_folder, models_folder
from engine.models.records import Record
from engine.models.records import write_record as write_model_record
from tests.engine.coreml.fake_system import FakeSystem
from tests.measure.sample_library import folder_of

SHA = "0123456789abcdef" * 4
RECORD = CoremlRecord((SHA,), "shift4", 1, system="24A1", compiled=True)

# Stands for `sottovoce coreml build`: prepares until the test lets it go on.
CHILD = """
import os, sys, time
from dataclasses import replace
from pathlib import Path
from engine.coreml.records import *
assert sys.argv[1:] == ["build", "base"]
data = Path(os.environ["SOTTOVOCE_DATA"])
folder = coreml_folder(data / "cache") / "key"
folder.mkdir(parents=True, exist_ok=True)
record = CoremlRecord(("{sha}",), "shift4", 1, system="24A1", compiled=True)
with working_on(folder):
    write_record(folder, record, State.PREPARING)
    while not (data / "go").exists():
        time.sleep(0.01)
    if (data / "go").read_text() == "bad":
        write_record(folder, record, State.FAILED, "The encoder gave what are no numbers.")
        sys.exit("sottovoce coreml: The engine could not transcribe.")
    write_record(folder, record, State.READY)
""".replace("{sha}", SHA)

Open = Callable[[], ModelsDialog]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a model, base, that has a record."""
    folder = folder_of(tmp_path)
    file = models_folder(folder) / "ggml-base.bin"
    write_model_record(
        file.with_suffix(".json"),
        Record(
            "download", "", file.stat().st_size, SHA, file.stat().st_mtime_ns, multilingual=True, can_translate=True
        ),
    )
    return folder


@pytest.fixture
def open_dialog(data: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setattr(coreml_runtime, "SYSTEM", FakeSystem(tmp_path / "script.json"))
    monkeypatch.setattr(neural_line, "_VERB", ("-P", "-c", CHILD))
    monkeypatch.setattr(neural_line, "ModelTask", partial(ModelTask, program=sys.executable))

    def made() -> ModelsDialog:
        dialog = ModelsDialog(data, Settings(tmp_path / "settings.json"))
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return made


def encoder(data: Path, state: State, reason: str = "") -> Path:
    folder = coreml_folder(cache_folder(data)) / "key"
    folder.mkdir(parents=True)
    write_record(folder, RECORD, state, reason)
    return folder


def test_there_is_no_line_where_there_is_no_neural_engine(data: Path, open_dialog: Open, tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"unsupported": "Core ML is a part of macOS."}')
    encoder(data, State.BUILT)
    dialog = open_dialog()
    assert not dialog.neural["base"].text.isVisible()
    assert not dialog.neural["base"].button.isVisible()
    assert not dialog.low_power.isVisible()


def test_it_is_prepared_with_a_click_and_turned_off_with_another(data: Path, open_dialog: Open, qtbot: QtBot) -> None:
    line = open_dialog().neural["base"]
    assert line.text.text() == "The Neural Engine is not prepared for this model."
    assert line.button.accessibleName() == "Prepare: Neural Engine for base"
    line.button.click()
    qtbot.waitUntil(lambda: "macOS prepares the Neural Engine" in line.text.text(), timeout=20_000)
    assert line.text.text().endswith("so far)")
    assert line.button.text() == "Cancel"
    (data / "go").write_text("good")
    qtbot.waitUntil(lambda: line.button.text() == "Turn off", timeout=20_000)
    assert line.text.text() == "The Neural Engine is ready for this model."
    line.button.click()
    assert line.text.text() == "The Neural Engine is turned off for this model. You turned it off."
    assert line.button.text() == "Prepare"


def test_why_it_failed_stands_there(data: Path, open_dialog: Open, qtbot: QtBot) -> None:
    (data / "go").write_text("bad")
    line = open_dialog().neural["base"]
    line.button.click()
    qtbot.waitUntil(lambda: "no numbers" in line.text.text(), timeout=20_000)
    assert line.text.text().startswith("The Neural Engine is not used for this model.")
    assert line.button.text() == "Prepare"


def test_it_can_be_cancelled(data: Path, open_dialog: Open, qtbot: QtBot) -> None:
    line = open_dialog().neural["base"]
    line.button.click()
    qtbot.waitUntil(lambda: line.text.text().endswith("so far)"), timeout=20_000)
    line.button.click()
    assert "interrupted" in line.text.text()
    assert line.button.text() == "Prepare"


def test_closing_the_window_ends_it(data: Path, open_dialog: Open, qtbot: QtBot) -> None:
    dialog = open_dialog()
    dialog.neural["base"].button.click()
    qtbot.waitUntil(lambda: dialog.neural["base"].text.text().endswith("so far)"), timeout=20_000)
    dialog.stop()
    with working_on(coreml_folder(cache_folder(data)) / "key"):
        pass


def test_what_another_program_does_is_shown_without_a_button(data: Path, open_dialog: Open) -> None:
    folder = encoder(data, State.CHECKING)
    with working_on(folder):
        line = open_dialog().neural["base"]
        assert line.text.text().startswith("What the encoder gives is being checked. (0:0")
        assert not line.button.isVisible()


def test_low_power_is_remembered(open_dialog: Open, tmp_path: Path) -> None:
    dialog = open_dialog()
    assert dialog.low_power.isVisible()
    dialog.low_power.click()
    again = Settings(tmp_path / "settings.json")
    assert again.options().low_power


def test_what_was_built_goes_with_the_model(data: Path, open_dialog: Open) -> None:
    folder = encoder(data, State.READY)
    (folder / "ggml-model-encoder.mlmodelc").mkdir()
    (folder / "ggml-model-encoder.mlmodelc" / "weights").write_bytes(b"x" * 5_000_000)
    dialog = open_dialog()
    row = dialog.rows["base"]
    assert "5 MB more prepared" in row._note.text()
    row.button.click()
    row.button.click()
    assert read_record(folder) is None
    assert not dialog.neural["base"].text.isVisible()
