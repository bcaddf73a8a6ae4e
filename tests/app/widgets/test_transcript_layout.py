"""Where the text of a long transcript stands, though only what is seen is laid out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication

from app.transcript_caret import units
from app.transcript_layout import Sheet, TextLayouts, lay_out, place_at, runs_left
from app.transcript_view import TranscriptView
from tests.measure.sample_library import ARABIC, ENGLISH, JAPANESE, segments, sentences

WORDS = " ".join(sentences(ENGLISH))


@pytest.fixture
def font(qapp: QApplication) -> QFont:
    return QFont()


def laid_out(texts: list[str], font: QFont, width: int = 700) -> TextLayouts:
    layouts = TextLayouts(texts.__getitem__)
    layouts.reset(texts)
    layouts.divide(Sheet.divide(width, font, font), font)
    return layouts


@pytest.mark.parametrize("width", [600, 900, 1300, 1600, 3000])
def test_a_line_never_holds_more_than_eighty_characters(font: QFont, width: int) -> None:
    sheet = Sheet.divide(width, font, font)
    laid = lay_out(WORDS, font, sheet)
    lengths = [laid.lineAt(number).textLength() for number in range(laid.lineCount() - 1)]
    assert max(lengths) <= 84
    assert sum(lengths) / len(lengths) <= 80
    assert sheet.time_x >= 0
    assert sheet.mark_x + sheet.mark <= width


def test_a_wide_page_leaves_as_much_room_at_the_left_as_at_the_right(font: QFont) -> None:
    sheet = Sheet.divide(1600, font, font)
    assert abs(sheet.time_x - (1600 - sheet.mark_x - sheet.mark)) <= 1


def test_for_scripts_that_run_to_the_left_the_page_is_mirrored(font: QFont) -> None:
    usual, mirrored = Sheet.divide(900, font, font), Sheet.divide(900, font, font, mirrored=True)
    assert mirrored.text_x == 900 - usual.text_x - usual.text_width
    assert mirrored.time_x > mirrored.text_x + mirrored.text_width


def test_lines_stand_apart_enough_to_be_read_in_every_script(font: QFont) -> None:
    for text in (WORDS, " ".join(sentences(JAPANESE)), " ".join(sentences(ARABIC))):
        laid = lay_out(text * 3, font, Sheet.divide(700, font, font))
        lines = [laid.lineAt(number) for number in range(laid.lineCount())]
        steps = [after.y() + after.ascent() - before.y() - before.ascent() for before, after in pairwise(lines)]
        assert min(steps) >= 1.35 * QFontMetrics(font).height()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello", False),
        ("مرحبا", True),
        ("  «שלום» abc", True),
        ("12 … ABC שלום", False),
        ("😀 123", False),
        ("", False),
    ],
)
def test_the_first_letter_says_which_way_a_text_runs(text: str, left: bool) -> None:
    assert runs_left(text) is left


def test_arabic_stands_at_the_right_edge(font: QFont) -> None:
    sheet = Sheet.divide(700, font, font)
    laid = lay_out(sentences(ARABIC)[0], font, sheet)
    assert laid.lineAt(0).cursorToX(0)[0] == pytest.approx(sheet.text_width, abs=1)  # type: ignore[index]


def test_estimated_heights_are_near_the_measured_ones(font: QFont) -> None:
    for text in (ENGLISH, JAPANESE, ARABIC):
        texts = [segment.text.strip() for segment in segments(text, 60)]
        layouts = laid_out(texts, font)
        estimated = layouts.total
        layouts.measure(0, len(texts))
        assert layouts.total == pytest.approx(estimated, rel=0.15)


@given(st.lists(st.text(max_size=300), min_size=1, max_size=30), st.data())
def test_rows_lie_one_below_the_other_whatever_was_measured(
    qapp: QApplication, texts: list[str], data: st.DataObject
) -> None:
    layouts = laid_out(texts, QFont(), width=400)
    layouts.append(["more"] * data.draw(st.integers(0, 3)))
    texts += ["more"] * (len(layouts) - len(texts))
    first = data.draw(st.integers(-2, len(texts)))
    layouts.measure(first, first + data.draw(st.integers(0, 10)))
    for row in range(len(layouts)):
        assert layouts.height(row) > 0
        assert layouts.top(row + 1) == layouts.top(row) + layouts.height(row)
        assert layouts.row_at(layouts.top(row)) == row
        assert layouts.row_at(layouts.top(row + 1) - 1) == row
    assert layouts.row_at(-5) == 0
    assert layouts.row_at(layouts.total + 5) == len(layouts) - 1


def test_a_click_behind_the_last_word_of_a_line_stays_in_that_line(font: QFont) -> None:
    laid = lay_out(WORDS, font, Sheet.divide(500, font, font))
    first = laid.lineAt(0)
    place = place_at(laid, QPointF(5_000, first.y() + 2))
    assert laid.lineForTextPosition(place).lineNumber() == 0
    last = laid.lineAt(laid.lineCount() - 1)
    assert place_at(laid, QPointF(5_000, last.y() + 2)) == units(WORDS)


def test_what_is_read_stays_where_it_is_while_rows_above_are_measured(show_page: Callable[..., TranscriptView]) -> None:
    view = show_page(count=2_000)
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    for _step in range(40):
        row = view.layouts.row_at(view.verticalOffset() - view.margin_top) + 3
        before = view.visualRect(view.rows.index(row)).top()
        bar.setValue(bar.value() - 60)
        assert abs(view.visualRect(view.rows.index(row)).top() - before - 60) <= 1


def test_the_start_of_a_transcript_is_seen_from_its_first_line(show_page: Callable[..., TranscriptView]) -> None:
    view = show_page(count=500)
    for width in (700, 1200, 900):
        view.resize(width, 600)
        assert view.verticalOffset() == 0
        assert view.visualRect(view.rows.index(0)).top() == view.margin_top
