"""Clean-up of what was dictated: it takes away what is no word, and leaves all else alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictation import cleaned


@pytest.mark.parametrize(
    ("language", "said", "written"),
    [
        ("en", "Um, so I think, uh, that it works.", "So I think, that it works."),
        ("en", "I think, uh, it works, um.", "I think, it works."),
        ("en", "We we should go to the the shop.", "We should go to the shop."),
        ("en", "I know that that is very very good.", "I know that that is very very good."),
        ("en", "Dear Anna, new paragraph. thank you. New line. yours", "Dear Anna\n\nThank you.\nYours"),
        ("en", "This is a new line of work.", "This is a new line of work."),
        ("de", "Ähm, das ist, äh, er und sie.", "Das ist, er und sie."),
        ("de", "Das, das die Leute sagen.", "Das, das die Leute sagen."),
        ("fr", "Euh, c'est bien. à la ligne. Merci", "C'est bien.\nMerci"),
        ("ja", "えーと、今日は", "えーと、今日は"),
        ("en", "An umbrella and an error, hummus too.", "An umbrella and an error, hummus too."),
        ("en", "um", ""),
        (None, "no no rules, um", "No no rules, um"),
    ],
)  # fmt: skip
def test_what_was_said_becomes_what_would_have_been_written(language: str | None, said: str, written: str) -> None:
    assert cleaned(said, language) == written


@given(st.text(), st.sampled_from(["en", "de", "fr", "es", "it", "pt", "nl", "ja", None]))
def test_cleaning_adds_no_words_and_takes_any_text(text: str, language: str | None) -> None:
    assert len(cleaned(text, language).split()) <= len(text.split())
