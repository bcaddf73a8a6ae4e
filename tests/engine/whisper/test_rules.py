"""What may be said next: as openai/whisper has it, and so that any walk by the rules makes sense."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.folders import models_folder
from engine.models.ggml import GgmlModel, read_model
from engine.models.store import ModelStore
from engine.whisper.rules import Extent, Rules, logsumexp
from engine.whisper.vocabulary import Vocabulary

Floats = NDArray[np.float32]

# "suppress_tokens" in the generation settings that OpenAI publishes with its models, without the special tokens
# at their end.
SYMBOLS_ENGLISH = """1 2 7 8 9 10 14 25 26 27 28 29 31 58 59 60 61 62 63 90 91 92 93 357 366 438 532 685 705 796 930
1058 1220 1267 1279 1303 1343 1377 1391 1635 1782 1875 2162 2361 2488 3467 4008 4211 4600 4808 5299 5855 6329 7203
9609 9959 10563 10786 11420 11709 11907 13163 13697 13700 14808 15306 16410 16791 17992 19203 19510 20724 22305 22935
27007 30109 30420 33409 34949 40283 40493 40549 47282 49146"""
SYMBOLS_MULTILINGUAL = """1 2 7 8 9 10 14 25 26 27 28 29 31 58 59 60 61 62 63 90 91 92 93 359 503 522 542 873 893 902
918 922 931 1350 1853 1982 2460 2627 3246 3253 3268 3536 3846 3961 4183 4667 6585 6647 7273 9061 9383 10428 10929
11938 12033 12331 12562 13793 14157 14635 15265 15618 16553 16604 18362 18956 20075 21675 22520 26130 26161 26435
28279 29464 31650 32302 32470 36865 42863 47425 49870 50254"""
BLANK = 220  # a single space: "begin_suppress_tokens" has it, and the end
ONE_SECOND = 50


@pytest.fixture(scope="module")
def english(tiny: GgmlModel) -> Vocabulary:
    return Vocabulary.of(tiny)


@pytest.fixture(scope="module")
def multilingual(data_with_models: Path) -> Vocabulary:
    return Vocabulary.of(read_model(ModelStore(models_folder(data_with_models)).path("base")))


@pytest.fixture(scope="module")
def toy() -> Vocabulary:
    """All of Whisper's tokens, few of which are words: fast."""
    return Vocabulary([b" ", b" a", b"#", b" -"], 51864, multilingual=False)


def allowed(rules: Rules, v: Vocabulary, said: list[int], length: int = 30_000, favour: int | None = None) -> set[int]:
    """What may follow: all tokens are equally likely, so that no rule of likelihood strikes unless `favour` does."""
    logits = np.zeros((1, v.size), np.float32)
    logits[0, : v.first_timestamp] = 10  # more than all 1501 timestamps together
    if favour is not None:
        logits[0, favour] = 30
    rules.apply(logits, [said], [Extent(length)])
    return {int(token) for token in np.flatnonzero(np.isfinite(logits[0]))}


def times(v: Vocabulary, *places: int) -> list[int]:
    return [v.first_timestamp + place for place in places]


@pytest.mark.parametrize(("name", "symbols"), [("english", SYMBOLS_ENGLISH), ("multilingual", SYMBOLS_MULTILINGUAL)])
def test_the_published_symbols_are_never_said_and_no_other_word_is_forbidden(
    request: pytest.FixtureRequest, name: str, symbols: str
) -> None:
    v: Vocabulary = request.getfixturevalue(name)
    forbidden = set(range(v.size)) - allowed(Rules(v), v, [*times(v, 0), 440])
    assert {token for token in forbidden if token < v.end} == {int(symbol) for symbol in symbols.split()}
    special = {v.start, v.translate, v.transcribe, v.previous, v.no_speech, v.no_timestamps, *v.languages.values()}
    assert special <= forbidden
    assert v.end not in forbidden


def test_a_token_that_the_model_has_no_word_for_is_never_said() -> None:
    short = Vocabulary([b" a"] * 50_256, 51865, multilingual=True)
    assert allowed(Rules(short), short, [*times(short, 0), 5]) >= {50_255, short.end}
    assert 50_256 not in allowed(Rules(short), short, [*times(short, 0), 5])


def test_the_first_token_is_a_time_within_a_second(english: Vocabulary) -> None:
    assert allowed(Rules(english), english, []) == set(times(english, *range(ONE_SECOND + 1)))


def test_the_first_time_is_inside_a_window_shorter_than_a_second(toy: Vocabulary) -> None:
    assert allowed(Rules(toy), toy, [], length=200) == set(times(toy, *range(11)))
    assert allowed(Rules(toy), toy, [], length=0) == set(times(toy, 0))


def test_after_the_first_time_comes_text(toy: Vocabulary) -> None:
    assert allowed(Rules(toy), toy, times(toy, 7)) >= {1, toy.end}
    assert max(allowed(Rules(toy), toy, times(toy, 7))) == toy.end


def test_after_text_comes_text_the_end_or_a_later_time(toy: Vocabulary) -> None:
    found = allowed(Rules(toy), toy, [*times(toy, 7), 1])
    assert {1, toy.end} <= found
    assert {token for token in found if token > toy.end} == set(times(toy, *range(8, 1501)))


def test_a_time_after_text_is_followed_by_the_end_or_a_time_no_earlier(toy: Vocabulary) -> None:
    found = allowed(Rules(toy), toy, [*times(toy, 7), 1, *times(toy, 90)], favour=toy.end)
    assert found == {toy.end, *times(toy, *range(90, 1501))}


def test_a_pair_of_times_is_followed_by_text_or_the_end(toy: Vocabulary) -> None:
    found = allowed(Rules(toy), toy, [*times(toy, 7), 1, *times(toy, 90, 95)])
    assert {1, toy.end} <= found
    assert max(found) == toy.end


def test_times_end_with_the_window(toy: Vocabulary) -> None:
    found = allowed(Rules(toy), toy, [*times(toy, 7), 1], length=2010)
    assert max(found) == toy.first_timestamp + 101  # 2.02 s: the first that is not before the window's end


def test_where_times_together_are_likelier_than_any_word_a_time_comes(toy: Vocabulary) -> None:
    logits = np.zeros((2, toy.size), np.float32)
    logits[0, 1] = np.log(1000)  # 1493 times may follow
    logits[1, 1] = np.log(2000)
    Rules(toy).apply(logits, [[*times(toy, 7), 1]] * 2, [Extent(30_000)] * 2)
    assert not np.isfinite(logits[0, : toy.first_timestamp]).any()
    assert np.isfinite(logits[1, 1])


def test_rows_of_a_batch_do_not_touch_each_other(toy: Vocabulary) -> None:
    histories = [[], times(toy, 3), [*times(toy, 3), 1], [*times(toy, 3), 1, *times(toy, 9)]]
    extents = [Extent(30_000), Extent(5000, 4000), Extent(100), Extent(2000)]
    numbers = np.random.default_rng(1).normal(0, 5, (4, toy.size)).astype(np.float32)
    together = numbers.copy()
    Rules(toy).apply(together, histories, extents)
    for row in range(4):
        alone = numbers[row : row + 1].copy()
        Rules(toy).apply(alone, histories[row : row + 1], extents[row : row + 1])
        np.testing.assert_array_equal(together[row], alone[0])


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), length=st.integers(0, 30_000), spread=st.floats(0.1, 20), bias=st.floats(-5, 15))
def test_any_greedy_walk_makes_sense(toy: Vocabulary, seed: int, length: int, spread: float, bias: float) -> None:
    rules, random, said = Rules(toy), np.random.default_rng(seed), list[int]()
    while len(said) < 60:
        logits = random.normal(0, spread, (1, toy.size)).astype(np.float32)
        logits[0, toy.first_timestamp :] += bias
        rules.apply(logits, [said], [Extent(length)])
        assert np.isfinite(logits).any(), said
        token = int(logits[0].argmax())
        if token == toy.end:
            break
        said.append(token)
    makes_sense(toy, said, length)


def makes_sense(v: Vocabulary, said: list[int], length: int) -> None:
    stamps = [token - v.first_timestamp for token in said if token >= v.first_timestamp]
    assert said[0] >= v.first_timestamp
    assert stamps[0] <= ONE_SECOND
    assert stamps == sorted(stamps)
    assert stamps[-1] * 20 < length + 20
    assert all(token < v.end and token not in {2, 3} for token in said if token < v.first_timestamp)
    kinds = "".join("t" if token >= v.first_timestamp else "w" for token in said)
    assert "ttt" not in kinds
    assert not kinds.startswith("tt")
    for at in range(len(said) - 1):  # a segment takes time: it ends later than it begins
        if kinds[at] == "w" and kinds[at + 1] == "t":
            begun = max((t for t in said[:at] if t >= v.first_timestamp), default=0)
            assert said[at + 1] > begun


def test_logsumexp_is_right_also_without_any_hope() -> None:
    rows = np.array([[0, 0, 0], [1000, 1000, -np.inf], [-np.inf] * 3], np.float32)
    np.testing.assert_allclose(logsumexp(rows), [np.log(3), 1000 + np.log(2), -np.inf], rtol=1e-6)
