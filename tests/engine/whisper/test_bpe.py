"""Text to tokens: GPT-2's numbers, as few tokens as whisper.cpp has at most, and always back to the same text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import _pywhispercpp as whispercpp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.whispercpp import WhisperCpp
from engine.models.ggml import GgmlModel
from engine.whisper.bpe import encoded

ENGLISH = [
    " Hello, world!",
    " And so, my fellow Americans: ask not what your country can do for you.",
    " It's 10:45; don't they've we'll I'd I'm you're THEY'RE",
    "  two spaces,\n\nlines\tand tabs  ",
    " 3.14159 1,000,000 2024-05-06",
    " snake_case __init__ <|endoftext|> [BLANK_AUDIO]",
]
OTHERS = [
    " Grüße aus Köln, schöne Straße",
    " Où est l'école? Ça va très bien, merci.",
    " ¿Dónde está la biblioteca? ¡Mañana!",
    " Привет, как дела?",
    " 日本語のテキスト 今天天气很好。",
    " 안녕하세요 नमस्ते दुनिया مرحبا بالعالم",
    " emoji 🎉 and ♪ music ♪, 20 m² and ½",
]


@pytest.fixture(scope="module")
def count_of_whispercpp(tiny_file: Path) -> Iterator[Callable[[str], int]]:
    """How many tokens whisper.cpp makes of a text. Its binding cannot hand them over: asked for none, it says how
    many there would have been.
    """
    backend = WhisperCpp(tiny_file, use_gpu=False, threads=1)
    tokenize = vars(whispercpp)["whisper_tokenize"]
    yield lambda text: -tokenize(backend._context, text, 0, 0)
    backend.close()


def test_english_has_gpt2s_numbers(tiny: GgmlModel) -> None:
    assert encoded("Hello, world!", tiny.vocabulary) == [15496, 11, 995, 0]
    assert encoded(" don't", tiny.vocabulary) == [836, 470]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_as_many_tokens_as_in_whisper_cpp(
    tiny: GgmlModel, count_of_whispercpp: Callable[[str], int], text: str
) -> None:
    assert len(encoded(text, tiny.vocabulary)) == count_of_whispercpp(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_languages_are_no_more_tokens_than_in_whisper_cpp(
    tiny: GgmlModel, count_of_whispercpp: Callable[[str], int], text: str
) -> None:
    """whisper.cpp cuts words at letters beyond ASCII, which Whisper was not trained with."""
    assert len(encoded(text, tiny.vocabulary)) <= count_of_whispercpp(text)


@given(text=st.text() | st.text("aé'日 ½²_\n\t1٣🎉\u0301") | st.sampled_from(ENGLISH + OTHERS))
def test_tokens_say_the_text_they_were_made_from(tiny: GgmlModel, text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()  # without halves of surrogate pairs
    assert b"".join(tiny.vocabulary[token] for token in encoded(text, tiny.vocabulary)) == text.encode()


def test_bytes_that_a_model_does_not_have_are_left_out() -> None:
    assert encoded(" ab", [b" ", b"a"]) == [0, 1]
    assert encoded("", [b" "]) == []


def test_neighbours_that_were_learnt_first_are_merged_first() -> None:
    assert encoded("abc", [b"a", b"b", b"c", b"bc", b"ab"]) == [0, 3]
    assert encoded("aaa", [b"a", b"aa"]) == [1, 0]
