"""Tokens to words: bytes are whole characters before they are text, and times stay in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.whisper.words import Token, segment_from_tokens, words_from_tokens


def tokens(*pieces: bytes) -> list[Token]:
    return [Token(piece, i * 100, i * 100 + 90, 0.5, -0.7) for i, piece in enumerate(pieces)]


def test_a_character_split_over_tokens_is_one_character() -> None:
    kanji = "日本語".encode()
    segment = segment_from_tokens(tokens(kanji[:2], kanji[2:4], kanji[4:]), 0, 1000, "ja")
    assert segment.text == "日本語"
    assert "�" not in "".join(word.text for word in segment.words)


def test_words_begin_at_a_space_and_keep_their_punctuation() -> None:
    found = words_from_tokens(tokens(b" And", b" so", b",", b" fellow", b" Am", b"ericans", b"."), "en")
    assert [word.text for word in found] == [" And", " so,", " fellow", " Americans."]
    assert (found[3].start, found[3].end) == (400, 690)


def test_an_opening_quote_belongs_to_the_word_after_it() -> None:
    assert [w.text for w in words_from_tokens(tokens(b" he", b' "', b"said", b'"'), "en")] == [" he", ' "said"']


def test_japanese_words_are_characters_with_their_punctuation() -> None:
    pieces = [piece.encode() for piece in ("日", "本", "。", "「", "は", "」")]
    assert [w.text for w in words_from_tokens(tokens(*pieces), "ja")] == ["日", "本。", "「は」"]


def test_bytes_that_never_become_a_character_are_replaced_not_lost() -> None:
    assert segment_from_tokens(tokens(b" a", b"\xe6"), 0, 100, "en").text == "a�"


@given(
    st.lists(
        st.builds(
            Token,
            st.sampled_from([b" a", b"b", b",", "日".encode(), b"\xe6", b"\x97\xa5"]),
            st.integers(-500, 40_000),
            st.integers(-500, 40_000),
            st.floats(0, 1),
            st.floats(-10, 0),
        ),
        max_size=30,
    ),
    st.sampled_from(["en", "ja"]),
)
def test_words_are_in_order_inside_their_segment_and_lose_no_text(given_tokens: list[Token], language: str) -> None:
    segment = segment_from_tokens(given_tokens, 1000, 9000, language)
    times = [time for word in segment.words for time in (word.start, word.end)]
    assert times == sorted(times)
    assert all(1000 <= time <= 9000 for time in times)
    whole = b"".join(token.text for token in given_tokens).decode("utf-8", "replace")
    assert segment.text == whole.strip()
    assert len("".join(word.text for word in segment.words)) >= len(whole) - whole.count("�")
