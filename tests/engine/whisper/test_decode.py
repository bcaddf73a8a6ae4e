"""Decoding over a scripted runtime: what is kept, when it ends, what is tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.whisper.decode import (
    Decoder,
    Hypothesis,
    Prompt,
    Step,
    _highest,
    compression,
    failed,
    goes_round,
    is_silence,
)
from engine.whisper.rules import Extent
from engine.whisper.vocabulary import Vocabulary

V = Vocabulary([b" ", b" a", b" b", b" c"], 51864, multilingual=False)
PROMPT = Prompt((), (V.start,), words=True)
TIME = V.first_timestamp
Script = Callable[[tuple[int, ...]], dict[int, float]]  # what was said → logits of what may follow


class History:
    """A cache that is nothing but the tokens of its rows."""

    def __init__(self, said: list[tuple[int, ...]]) -> None:
        self.said = said
        self.rows = len(said)
        self.length = 0

    def take(self, rows: Sequence[int]) -> History:
        return History([self.said[row] for row in rows])


@dataclass
class Scripted:
    """A runtime whose logits are those of a script; counts the rows of each run."""

    script: Script
    runs: list[int] = field(default_factory=list[int])

    def step(self, tokens: NDArray[np.int64], cache: Any) -> Step:
        cache.said = [(*said, *row) for said, row in zip(cache.said, tokens.tolist(), strict=True)]
        self.runs.append(len(tokens))
        logits = np.full((len(tokens), V.size), -40, np.float32)
        logits[:, V.end] = -80  # never by chance
        for row, said in zip(logits, cache.said, strict=True):
            for token, value in self.script(said).items():
                row[token] = value
        alignment = np.full((len(tokens), 1, tokens.shape[1], 3), len(cache.said[0]), np.float32)
        return Step(logits, alignment)


def decoder(script: Script) -> tuple[Decoder, Scripted]:
    graphs = Scripted(script)
    return Decoder(graphs, V), graphs


def after(said: tuple[int, ...]) -> tuple[int, ...]:
    """What the decoder itself has said."""
    return said[said.index(V.start) + 1 :]


def sentence(*tokens: int) -> Script:
    """Says the tokens, then ends."""

    def script(said: tuple[int, ...]) -> dict[int, float]:
        place = len(after(said))
        return {tokens[place] if place < len(tokens) else V.end: 10.0}

    return script


def started(rows: int = 1) -> History:
    return History([()] * rows)


MANY = Vocabulary([b" ", b" a", b" b", b" c"], 51865, multilingual=True)
GERMAN, FRENCH = MANY.languages["de"], MANY.languages["fr"]


def speaks_french(sure: float) -> Script:
    """French is likelier than German by so much; it says one word in German, another in French."""

    def script(said: tuple[int, ...]) -> dict[int, float]:
        if said[-1] == MANY.start:
            return {GERMAN: 0.0, FRENCH: sure}
        if said[-1] == MANY.transcribe:
            return {MANY.first_timestamp: 10.0}
        if said[-1] == MANY.first_timestamp:
            return {2 if FRENCH in said else 1: 10.0}
        return {MANY.end: 10.0}

    return script


@pytest.mark.parametrize(
    ("sure", "length", "may", "expected"),
    [
        (3.0, 5_000, True, FRENCH),
        (3.0, 5_000, False, GERMAN),
        (1.0, 5_000, True, GERMAN),
        (3.0, 2_000, True, GERMAN),
    ],
    ids=["clear", "not asked for", "doubtful", "short"],
)
def test_a_window_changes_the_language_only_when_it_may_and_leaves_no_doubt(
    sure: float, length: int, may: bool, expected: int
) -> None:
    prompt = Prompt((), MANY.prompt("de", "transcribe"), any_language=may)
    one = Decoder(Scripted(speaks_french(sure)), MANY)
    (greedy,) = one.sample(started(), prompt, [Extent(length)], 0)
    beam = one.beam(started(), prompt, Extent(length), 2)
    for found in (greedy, beam):
        assert found.language == expected
        assert found.tokens[1:] == [2 if expected == FRENCH else 1]


def test_each_window_of_a_batch_has_a_language_of_its_own() -> None:
    one = Decoder(Scripted(lambda said: speaks_french(3.0 if 3 in said else -3.0)(said)), MANY)
    prompt = Prompt((), MANY.prompt("de", "transcribe"), any_language=True)
    rows = one.sample(History([(3,), ()]), prompt, [Extent(5_000)] * 2, 0)
    assert [row.language for row in rows] == [FRENCH, GERMAN]


def test_greedy_says_what_is_likeliest_and_ends() -> None:
    one, graphs = decoder(sentence(TIME, 1, 2, TIME + 50))
    (found,) = one.sample(started(), PROMPT, [Extent(5000)], 0)
    assert found.tokens == [TIME, 1, 2, TIME + 50]
    assert found.ended
    assert not found.loops
    assert len(found.logprobs) == 5  # the end is one of them
    assert len(found.attention) == 4
    assert graphs.runs == [1] * 5


def test_each_token_has_the_attention_with_which_it_was_predicted() -> None:
    one, _ = decoder(sentence(TIME, 1, 2, TIME + 50))
    (found,) = one.sample(started(), Prompt((V.previous, 3, 3), (V.start,), words=True), [Extent(5000)], 0)
    assert [float(weights[0, 0]) for weights in found.attention] == [4, 5, 6, 7]  # tokens that it had read


def test_attention_is_kept_only_for_words_and_only_where_there_is_sound() -> None:
    one, _ = decoder(sentence(TIME, 1, 2, TIME + 50))
    (unasked,) = one.sample(started(), Prompt((), (V.start,)), [Extent(5000)], 0)
    (short,) = one.sample(started(), PROMPT, [Extent(30)], 0)  # 2 of the 3 positions
    assert unasked.attention == []
    assert {weights.shape for weights in short.attention} == {(1, 2)}


def test_nothing_ends_while_someone_still_speaks() -> None:
    """Whisper leaves out a sentence that the window cuts off; the text goes on where the voice detector hears more."""
    script = sentence(TIME, 1, TIME + 50)  # until 1 s

    def goes_on(said: tuple[int, ...]) -> dict[int, float]:
        more = {TIME + 60: 5.0, 3: 4.0}  # once the end is not allowed
        return script(said) | (more if len(after(said)) >= 3 else {})

    found = [decoder(goes_on)[0].sample(started(), PROMPT, [Extent(5000, until)], 0)[0] for until in (2000, 4000)]
    assert found[0].tokens == [TIME, 1, TIME + 50]
    assert len(found[1].tokens) > 3


def test_rows_that_end_early_are_dropped_and_the_rest_goes_on_unharmed() -> None:
    lengths = [2, 9, 3, 5]

    def script(said: tuple[int, ...]) -> dict[int, float]:
        mine = after(said[1:])  # a row is told by the token before its start
        return {TIME: 10.0} if not mine else {1 + said[0] % 3 if len(mine) < lengths[said[0]] else V.end: 10.0}

    one, graphs = decoder(script)
    cache = History([(row,) for row in range(4)])
    found = one.sample(cache, PROMPT, [Extent(5000)] * 4, 0)
    assert [len(row.tokens) for row in found] == lengths
    assert [row.tokens[1:] for row in found] == [[1 + i % 3] * (n - 1) for i, n in enumerate(lengths)]
    assert graphs.runs == [4, 4, 4, 4, 2, 2, 1, 1, 1, 1]  # halved, since dropping rows copies the others


def test_a_loop_is_stopped_and_marked() -> None:
    def script(said: tuple[int, ...]) -> dict[int, float]:
        return {(1 + len(said) % 2) if after(said) else TIME: 10.0}

    one, _ = decoder(script)
    (found,) = one.sample(started(), PROMPT, [Extent(5000)], 0)
    assert found.loops
    assert len(found.tokens) <= 48
    assert failed(found, b"a b")


def endless(said: tuple[int, ...]) -> dict[int, float]:
    """Text that neither ends nor goes round."""
    return {TIME: 10.0} if not after(said) else {ENDLESS[len(said)]: 10.0}


ENDLESS = np.random.default_rng(0).integers(1, 4, 500).tolist()


@pytest.mark.parametrize(("before", "width", "most"), [(0, 0, 224), (100, 0, 224), (223, 0, 221), (223, 2, 221)])
def test_nothing_is_read_beyond_the_text_context(before: int, width: int, most: int) -> None:
    """Whisper's decoder has 448 positions; a prompt of 224 tokens leaves fewer than the usual 224."""
    one, _ = decoder(endless)
    prompt = Prompt((V.previous, *[1] * before) if before else (), (V.start, V.transcribe, V.no_timestamps))
    cache = started()
    found = (
        one.beam(cache, prompt, Extent(30_000), width) if width else one.sample(cache, prompt, [Extent(30_000)], 0)[0]
    )
    assert len(found.tokens) == most
    assert len(cache.said[0]) <= 448
    assert found.ended
    assert not found.loops


def test_no_speech_is_what_the_start_token_thinks_of_it() -> None:
    def script(said: tuple[int, ...]) -> dict[int, float]:
        return {V.no_speech: 20.0} if said[-1] == V.start else {TIME: 10.0} if len(after(said)) == 2 else {V.end: 10.0}

    one, _ = decoder(script)
    (found,) = one.sample(started(), Prompt((), (V.start, V.transcribe, V.no_timestamps)), [Extent(5000)], 0)
    assert found.no_speech == pytest.approx(1, abs=1e-3)


def undecided(said: tuple[int, ...]) -> dict[int, float]:
    mine = after(said)
    if not mine:
        return {TIME: 10.0}
    return {1: 3.0, 2: 2.9, 3: 2.8, V.end: -3.05 + len(mine) * 0.5}


def test_sampling_repeats_itself_for_a_seed_and_only_for_it() -> None:
    def run(seed: int) -> list[list[int]]:
        rows = decoder(undecided)[0].sample(started(3), PROMPT, [Extent(30_000)] * 3, 0.8, seed)
        return [row.tokens for row in rows]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert len({tuple(tokens) for tokens in run(1)}) > 1


def test_sampling_follows_the_probabilities() -> None:
    def coin(said: tuple[int, ...]) -> dict[int, float]:
        return {0: {TIME: 10.0}, 1: {1: np.log(3.0) + 9, 2: 9.0}}.get(len(after(said)), {V.end: 9.0})

    rows = decoder(coin)[0].sample(started(200), PROMPT, [Extent(30_000)] * 200, 1.0)
    heads = sum(row.tokens[1] == 1 for row in rows)
    assert 120 < heads < 180  # 150 ± 4.9 standard deviations
    assert rows[0].logprobs[1] == pytest.approx(np.log(0.75 if rows[0].tokens[1] == 1 else 0.25), abs=1e-3)


def trap(said: tuple[int, ...]) -> dict[int, float]:
    """The likelier first word leads to an unlikely sentence."""
    mine = after(said)
    if len(mine) < 2:
        return [{TIME: 10.0}, {1: 10.0, 2: 9.9}][len(mine)]
    if len(mine) == 5:
        return {V.end: 10.0}
    return {0: 1.0, 1: 1.1, 2: 1.2, 3: 1.3} if mine[1] == 1 else {3: 10.0}


def test_beams_find_what_greedy_misses() -> None:
    (greedy,) = decoder(trap)[0].sample(started(), PROMPT, [Extent(30_000)], 0)
    beam = decoder(trap)[0].beam(started(), PROMPT, Extent(30_000), 5)
    assert greedy.tokens[1] == 1
    assert beam.tokens == [TIME, 2, 3, 3, 3]
    assert beam.avg_logprob > greedy.avg_logprob
    assert len(beam.attention) == len(beam.tokens)
    assert len(beam.logprobs) == len(beam.tokens) + 1


def test_one_beam_is_greedy() -> None:
    for script in (trap, undecided, sentence(TIME, 1, 2, 3, TIME + 9)):
        (greedy,) = decoder(script)[0].sample(started(), PROMPT, [Extent(30_000)], 0)
        beam = decoder(script)[0].beam(started(), PROMPT, Extent(30_000), 1)
        assert beam.tokens == greedy.tokens
        assert beam.avg_logprob == pytest.approx(greedy.avg_logprob, abs=1e-4)


def test_beams_that_go_round_are_stopped_and_marked() -> None:
    one, graphs = decoder(lambda said: {1 + len(said) % 2 if after(said) else TIME: 10.0})
    assert one.beam(started(), PROMPT, Extent(30_000), 2).loops
    assert len(graphs.runs) <= 48


@pytest.mark.parametrize(
    ("tokens", "round_and_round"),
    [
        ([5] * 24, True),
        ([5] * 23, False),
        ([1, 2, 3, *[5] * 24], True),
        ([*[5] * 24, 6], False),  # it has found its way out
        ([1, 2] * 12, True),
        ([1, 2, 3, 4, 5, 6, 7] * 4, True),
        ([1, 2, 3, 4, 5, 6, 7] * 3, False),
        ([*range(40)] * 4, True),
        ([*range(41)] * 4, False),  # too long to be a loop: a refrain
        ([9, 9, *[1, 2, 3] * 8], True),
        (list(range(100)), False),
        ([], False),
    ],
)
def test_a_loop_is_the_same_four_times_over_at_least_24_tokens(tokens: list[int], round_and_round: bool) -> None:
    assert goes_round(tokens) is round_and_round


def test_compression_tells_repetition_from_speech() -> None:
    speech = b" And so, my fellow Americans, ask not what your country can do for you, ask what you can do for it."
    assert compression(b"") == 0
    assert 0.5 < compression(speech) < 2.4
    assert compression(b" thank you" * 20) > 2.4


def hypothesis(logprob: float, no_speech: float) -> Hypothesis:
    return Hypothesis([1, 2, 3], [logprob] * 4, [], no_speech, ended=True)


@pytest.mark.parametrize(
    ("logprob", "no_speech", "fails", "silent"),
    [(-0.3, 0.1, False, False), (-0.3, 0.9, False, False), (-1.2, 0.1, True, False), (-1.2, 0.9, False, True)],
)
def test_unlikely_words_are_tried_again_unless_nobody_seems_to_speak(
    logprob: float, no_speech: float, fails: bool, silent: bool
) -> None:
    found = hypothesis(logprob, no_speech)
    assert found.avg_logprob == pytest.approx(logprob)
    assert (failed(found, b" a b c"), is_silence(found)) == (fails, silent)


def test_repetition_is_tried_again_however_likely() -> None:
    assert failed(hypothesis(-0.1, 0.0), b" thank you" * 20)


@given(count=st.integers(1, 12), seed=st.integers(0, 2**32), hopeless=st.floats(0, 1))
def test_the_highest_are_found_wherever_they_lie(count: int, seed: int, hopeless: float) -> None:
    numbers = np.random.default_rng(seed)
    values = numbers.normal(0, 5, 3000).astype(np.float32)
    values[numbers.random(3000) < hopeless] = -np.inf
    assert sorted(values[_highest(values, count)]) == sorted(values)[-count:]
