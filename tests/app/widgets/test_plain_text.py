"""Names of files and words of other programs are shown as they are, whatever they look like."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as Text
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QWidget

from app.keys import Keys
from app.look import tip
from app.main_window import MainWindow
from engine.errors import Code
from engine.library import Library
from engine.protocol import Notice
from engine.types import Options, Phase, Timings
from tests.app.widgets.seen import shown_text

NAME = "<b>Smith & <img src=x>.wav"


def fill(library: Library) -> None:
    entry = library.add(f"/nowhere/{NAME}".encode(), Options())
    library.update(
        entry.id,
        state="failed",
        error=Code.DAMAGED,
        error_detail="<h1>moov</h1>",
        model="<u>base</u>",
        track_name="<s>music</s>",
        notices=(Notice(entry.id, "gap", "<i>here</i>", 1_000, 2_000), Notice(entry.id, "quiet", "<i>there</i>")),
        timings=Timings(1_000, 1_000, (Phase("<tt>decode</tt>", 900),)),
    )


def labels(root: QWidget) -> list[QLabel]:
    return root.findChildren(QLabel)


def test_no_label_of_the_window_takes_its_text_for_html(
    open_window: Callable[[], MainWindow], library: Library
) -> None:
    fill(library)
    window = open_window()
    window.toolbar.details.setChecked(True)
    window.bar.say(f"{NAME} was not saved.", [])
    window.status.say(f"{NAME} is already in the list.")
    window.show_models()
    assert window.models is not None
    keys = Keys(window)
    found = labels(window)
    assert set(labels(window.models)) | set(labels(keys)) < set(found)
    assert [label.text() for label in found if label.textFormat() != Qt.TextFormat.PlainText] == []
    assert {"<h1>moov</h1>", "<u>base</u>", "<tt>decode</tt>"} <= set(shown_text(window).split())
    window.models.close()


def test_no_tooltip_takes_the_name_of_a_file_for_html(open_window: Callable[[], MainWindow], library: Library) -> None:
    fill(library)
    window = open_window()
    window.status.say(f"{NAME} is already in the list.")
    tips = [widget.toolTip() for widget in window.findChildren(QWidget) if "Smith" in widget.toolTip()]
    tips.append(window.job_list.model.first().data(Qt.ItemDataRole.ToolTipRole))
    assert len(tips) >= 3
    for text in tips:
        assert Text.mightBeRichText(text)
        assert NAME in QTextDocumentFragment.fromHtml(text).toPlainText()


@pytest.mark.parametrize("text", [NAME, "two\nlines <b>", "a <br>\nb", "&lt; is no bracket"])
def test_a_tooltip_shows_what_it_was_given(text: str) -> None:
    shown = tip(text)
    assert (QTextDocumentFragment.fromHtml(shown).toPlainText() if Text.mightBeRichText(shown) else shown) == text


def test_a_plain_tooltip_stays_as_it_is() -> None:
    assert tip("Smith & Sons, 3 < 4.wav") == "Smith & Sons, 3 < 4.wav"
