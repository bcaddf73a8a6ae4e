"""Reading, selecting and copying a transcript, while it grows and when it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.transcript_caret import Place
from app.transcript_view import TranscriptView
from engine.types import Segment
from tests.measure.sample_library import ENGLISH, segments

ShowPage = Callable[..., TranscriptView]
Key: TypeAlias = Qt.Key
Held: TypeAlias = Qt.KeyboardModifier


def point_of(view: TranscriptView, row: int, pos: int) -> QPoint:
    """Where a character stands on the viewport."""
    line = view.layouts.layout(row).lineForTextPosition(pos)
    x = line.cursorToX(pos)[0]  # type: ignore[index]
    top = view.visualRect(view.rows.index(row)).top()
    return QPoint(view.sheet.text_x + round(x), round(top + line.y() + line.height() / 2))


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    viewport = view.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Held.NoModifier, start)
    QTest.mouseMove(viewport, (start + end) / 2)
    QTest.mouseMove(viewport, end)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Held.NoModifier, end)


def press(view: TranscriptView, *keys: Key, held: Held = Held.NoModifier) -> None:
    for key in keys:
        QTest.keyClick(view, key, held)


def test_text_is_selected_across_segments_with_the_mouse(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One two three.", "Four five six.", "Seven eight nine.")
    drag(view, point_of(view, 0, 4), point_of(view, 2, 5))
    press(view, Key.Key_C, held=Held.ControlModifier)
    assert clipboard() == "two three.\nFour five six.\nSeven"


def test_a_drag_backwards_selects_the_same(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One two three.", "Four five six.")
    drag(view, point_of(view, 1, 4), point_of(view, 0, 4))
    view.copy()
    assert clipboard() == "two three.\nFour"


def test_text_is_selected_across_segments_with_the_keyboard(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One two.", "Four five.", "Seven.")
    press(view, Key.Key_Right, Key.Key_Right, Key.Key_Right, Key.Key_Right)
    press(view, Key.Key_Down, Key.Key_Right, held=Held.ShiftModifier)
    view.copy()
    assert clipboard() == "two.\nFour "
    press(view, Key.Key_End, held=Held.ShiftModifier | Held.ControlModifier)
    view.copy()
    assert clipboard() == "two.\nFour five.\nSeven."
    press(view, Key.Key_Home)
    assert not view.caret.selects


def test_everything_is_selected_and_copied_with_times(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One.", "Two.")
    press(view, Key.Key_A, held=Held.ControlModifier)
    press(view, Key.Key_C, held=Held.ControlModifier)
    assert clipboard() == "One.\nTwo."
    press(view, Key.Key_C, held=Held.ControlModifier | Held.AltModifier)
    assert clipboard() == "[00:00] One.\n[00:01] Two."


def test_without_a_selection_the_current_segment_is_copied(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One.", "Two.")
    press(view, Key.Key_Down)
    press(view, Key.Key_C, held=Held.ControlModifier)
    assert clipboard() == "Two."


def test_a_double_click_selects_a_word_and_a_third_the_segment(
    show_page: ShowPage, clipboard: Callable[[], str]
) -> None:
    view = show_page("One two three.", "Four.")
    at = point_of(view, 0, 5)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, at)
    view.copy()
    assert clipboard() == "two"
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, at)
    view.copy()
    assert clipboard() == "One two three."


def test_a_click_on_the_time_selects_the_segment(
    show_page: ShowPage, clipboard: Callable[[], str], qtbot: QtBot
) -> None:
    view = show_page("One.", "Two.", "Three.")
    at = QPoint(view.sheet.time_x + 5, view.visualRect(view.rows.index(1)).top() + 5)
    with qtbot.waitSignal(view.chosen) as chosen:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, at)
    assert chosen.args == [1]
    view.copy()
    assert clipboard() == "Two."


def test_a_click_with_shift_extends_the_selection(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One two three.", "Four.")
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, point_of(view, 0, 4))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Held.ShiftModifier, point_of(view, 0, 7))
    view.copy()
    assert clipboard() == "two"


def test_an_emoji_is_one_step_and_is_never_cut(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("a 👩‍👩‍👧 b 🍯 c", "x")
    press(view, Key.Key_Right, Key.Key_Right)
    press(view, Key.Key_Right, held=Held.ShiftModifier)
    view.copy()
    assert clipboard() == "👩‍👩‍👧"
    press(view, Key.Key_End)
    press(view, Key.Key_Left, Key.Key_Left, Key.Key_Left, held=Held.ShiftModifier)
    view.copy()
    assert clipboard() == "🍯 c"


def test_in_arabic_the_left_arrow_goes_on(show_page: ShowPage) -> None:
    view = show_page("مرحبا بالعالم", "ثانيا")
    press(view, Key.Key_Left, Key.Key_Left)
    assert view.caret.place == Place(0, 2)
    press(view, Key.Key_Right)
    assert view.caret.place == Place(0, 1)


def test_words_lines_and_pages_are_walked_through(show_page: ShowPage) -> None:
    view = show_page(count=200)
    press(view, Key.Key_Right, held=Held.ControlModifier)
    assert view.caret.place == Place(0, len("Good "))
    press(view, Key.Key_End)
    assert view.caret.place.pos > 20
    press(view, Key.Key_Home)
    assert view.caret.place == Place(0, 0)
    press(view, Key.Key_PageDown, Key.Key_PageDown)
    far = view.caret.place.row
    assert far > 10
    assert view.viewport().rect().contains(point_of(view, far, view.caret.place.pos))
    press(view, Key.Key_PageUp, Key.Key_PageUp)
    assert view.caret.place.row <= 1
    press(view, Key.Key_End, held=Held.ControlModifier)
    assert view.caret.place.row == 199
    press(view, *[Key.Key_PageUp] * 200)
    assert view.caret.place.row == 0
    assert view.verticalOffset() == 0


def test_up_and_down_keep_to_their_column(show_page: ShowPage) -> None:
    view = show_page("A long first line to walk in.", "No.", "Another long line to walk in.")
    press(view, *[Key.Key_Right] * 20)
    press(view, Key.Key_Down)
    assert view.caret.place == Place(1, 3)
    press(view, Key.Key_Down)
    assert view.caret.place.row == 2
    assert abs(view.caret.place.pos - 20) <= 2


def test_escape_ends_a_selection(show_page: ShowPage) -> None:
    view = show_page("One.", "Two.")
    view.select_all()
    press(view, Key.Key_Escape)
    assert not view.caret.selects


def test_dragging_past_the_edge_scrolls_on(show_page: ShowPage, qtbot: QtBot) -> None:
    view = show_page(count=300, height=300)
    below = QPoint(300, view.viewport().height() + 60)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, point_of(view, 0, 4))
    QTest.mouseMove(view.viewport(), below)
    qtbot.waitUntil(lambda: view.verticalOffset() > 300)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, below)
    assert view.caret.anchor == Place(0, 4)
    assert view.caret.place.row > 10


def test_the_view_follows_the_end_while_text_grows(show_page: ShowPage) -> None:
    view = show_page(count=60)
    view.set_growing(True)
    for segment in segments(ENGLISH, 40):
        view.rows.extend([segment])
        assert view.verticalOffset() == view.verticalScrollBar().maximum()
    assert not view.chip.isVisible()


def test_who_scrolls_up_is_left_alone_until_the_chip_is_pressed(show_page: ShowPage) -> None:
    view = show_page(count=60)
    view.set_growing(True)
    view.verticalScrollBar().setValue(200)
    assert view.chip.isVisible()
    row = view.layouts.row_at(200)
    at = view.visualRect(view.rows.index(row)).top()
    for segment in segments(ENGLISH, 30):
        view.rows.extend([segment])
    assert view.visualRect(view.rows.index(row)).top() == at
    view.chip.click()
    assert view.verticalOffset() == view.verticalScrollBar().maximum()
    assert not view.chip.isVisible()


def test_going_to_the_end_with_the_keyboard_follows_again(show_page: ShowPage) -> None:
    view = show_page(count=60)
    view.set_growing(True)
    press(view, Key.Key_Home, held=Held.ControlModifier)
    assert not view.following
    press(view, Key.Key_End, held=Held.ControlModifier)
    assert view.following


def test_a_selection_stays_while_text_grows(show_page: ShowPage, clipboard: Callable[[], str]) -> None:
    view = show_page("One two.", "Three.")
    view.set_growing(True)
    drag(view, point_of(view, 0, 0), point_of(view, 0, 3))
    view.rows.extend(segments(ENGLISH, 30))
    view.copy()
    assert clipboard() == "One"


def test_words_that_are_not_sure_are_shown_below_and_cannot_be_copied(
    show_page: ShowPage, clipboard: Callable[[], str]
) -> None:
    view = show_page("One.")
    press(view, Key.Key_Home)
    before = view.grab().toImage()
    view.set_partial(1000, "and perhaps this")
    assert view.grab().toImage() != before
    view.select_all()
    view.copy()
    assert clipboard() == "One."
    view.set_partial(0, "")
    press(view, Key.Key_Home)
    assert view.grab().toImage() == before


def test_a_screen_reader_meets_a_list_with_the_text_of_every_segment(show_page: ShowPage) -> None:
    view = show_page("One.", "Two.")
    view.rows.extend([Segment(65_000, 66_000, " Again again.", flags=("repeats",))])
    read = QAccessible.queryAccessibleInterface(view)
    assert read.text(QAccessible.Text.Name) == "Transcript"
    assert read.role() == QAccessible.Role.List
    assert [read.child(row).text(QAccessible.Text.Name) for row in range(read.childCount())] == [
        "0:00: One.",
        "0:01: Two.",
        "1:05: Again again.",
    ]
    assert "repeats" in read.child(2).text(QAccessible.Text.Description)
    assert view.visualRect(view.rows.index(1)).height() == read.child(1).rect().height()


def test_the_current_segment_is_what_a_screen_reader_hears(show_page: ShowPage) -> None:
    view = show_page("One.", "Two.")
    press(view, Key.Key_Down)
    assert view.currentIndex().row() == 1


def test_a_sought_text_is_found_again_and_again_round_the_end(show_page: ShowPage) -> None:
    view = show_page("One bee.", "Two.", "Three BEES.", "Four.")
    view.set_sought("bee")
    rows = []
    for _press in range(3):
        view.find_match(1)
        rows.append(view.caret.place.row)
    assert rows == [2, 0, 2]
    view.find_match(-1)
    assert view.caret.place.row == 0


@pytest.mark.parametrize("keys", [(Key.Key_Down,), (Key.Key_PageDown,), (Key.Key_End,), (Key.Key_A,)])
def test_an_empty_page_bears_every_key(
    show_page: ShowPage, keys: tuple[Key, ...], clipboard: Callable[[], str]
) -> None:
    view = show_page("x")
    view.rows.load([])
    press(view, *keys)
    press(view, *keys, held=Held.ControlModifier)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Held.NoModifier, QPoint(50, 50))
    view.copy()
    view.grab()
    assert clipboard() == ""
