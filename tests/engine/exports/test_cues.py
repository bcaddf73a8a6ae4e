"""Subtitles by rule: every cue keeps its rules or says which it breaks, and no word is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.exports.atoms import width
from engine.exports.cues import Cue, cues
from engine.exports.lines import BALANCE
from engine.exports.rules import PRESETS, CueRules
from engine.exports.scripts import tidy
from engine.exports.word_times import visible
from engine.types import Segment, Word
from tests.engine.exports.strategies import DURATIONS, any_segments, spoken_segments

NETFLIX, BBC, SOCIAL, PLAIN = (PRESETS[name] for name in ("netflix", "bbc", "social", "plain"))
ANY_RULES = st.sampled_from(list(PRESETS.values()))


def spoken(text: str, start: int = 0, each: int = 300, pause: int = 0, speaker: str | None = None) -> Segment:
    """A segment whose words take `each` ms; behind a full stop or comma there is a pause."""
    words: list[Word] = []
    for word in text.split():
        words.append(Word(start, start + each, f" {word}"))
        start += each + (pause if word[-1] in ".,?!" else 0)
    return Segment(words[0].start, words[-1].end, f" {text}", tuple(words), speaker)


def lines(made: Sequence[Cue]) -> list[tuple[str, ...]]:
    return [cue.lines for cue in made]


def check_warnings(made: Sequence[Cue], rules: CueRules) -> None:
    """What a cue does not warn of holds."""
    for before, cue in zip([None, *made], made, strict=False):
        shown, widths = cue.end - cue.start, [width(line) for line in cue.lines]
        promises = {
            "wide": max(widths) <= rules.characters,
            "lines": len(widths) <= rules.lines,
            "fast": sum(widths) * 1000 <= rules.fastest * (shown + 1),
            "short": shown >= rules.shortest - 1,
            "long": shown <= rules.longest + 1,
            "close": before is None or cue.start - before.end >= rules.gap,
            "unbalanced": len(widths) != 2 or min(widths) >= BALANCE * sum(widths),
        }
        broken = {warning for warning, holds in promises.items() if not holds}
        assert broken == set(cue.warnings) & set(promises)


@settings(max_examples=150, deadline=None)
@given(any_segments(), DURATIONS, ANY_RULES)
def test_any_segments_give_cues_in_order_without_losing_a_character(
    segments: list[Segment], duration: int | None, rules: CueRules
) -> None:
    rules = replace(rules, speakers="none")
    made = cues(segments, duration, rules)
    said = Counter(visible("".join(tidy(segment.text) for segment in segments)))
    assert Counter(visible("".join(cue.text for cue in made))) == said
    assert all(0 <= cue.start < cue.end for cue in made)
    assert all(cue.end <= duration for cue in made if duration)
    assert all(before.end <= after.start for before, after in pairwise(made))
    if rules.characters:
        check_warnings(made, rules)


@settings(max_examples=100, deadline=None)
@given(spoken_segments(), st.sampled_from([NETFLIX, BBC, SOCIAL]))
def test_speech_keeps_its_words_and_never_stays_too_long(segments: list[Segment], rules: CueRules) -> None:
    made = cues(segments, None, rules)
    assert [word for cue in made for word in cue.words] == [word for segment in segments for word in segment.words]
    assert all(cue.end - cue.start <= rules.longest for cue in made)
    check_warnings(made, rules)


def test_short_sentences_share_a_cue_on_lines_of_their_own_and_longer_ones_do_not() -> None:
    made = cues([spoken("This is the first one. And here comes the second.", pause=400)], 20_000, NETFLIX)
    assert lines(made) == [("This is the first one.", "And here comes the second.")]
    long = "This is the first one, which takes a line and more. And here comes the second, which does so too."
    assert [cue.text.replace("\n", " ")[-4:] for cue in cues([spoken(long)], 40_000, NETFLIX)] == ["ore.", "too."]


def test_a_long_sentence_is_divided_at_its_commas_into_lines_of_like_length() -> None:
    text = "When the water comes back, which it does twice a day, the boats are lifted from the sand, one by one."
    made = cues([spoken(text, each=350)], None, NETFLIX)
    assert lines(made) == [
        ("When the water comes back,", "which it does twice a day,"),
        ("the boats are lifted", "from the sand, one by one."),
    ]
    assert all(cue.warnings == () for cue in made)


def test_no_line_ends_behind_an_article_and_no_name_is_divided() -> None:
    text = "I met the beekeeper Thomas Abernathy on the way to a very small harbour near Southampton Water"
    made = cues([spoken(text, each=350)], None, NETFLIX)
    ends = [line.split()[-1] for line in (line for cue in made for line in cue.lines)]
    assert not {"the", "a", "very", "to", "Thomas", "Southampton"} & set(ends)


def test_a_cue_that_reads_too_fast_stays_into_the_pause_behind_it() -> None:
    (cue,) = cues([spoken("Extraordinarily quick incomprehensible pronunciation", each=200)], 10_000, NETFLIX)
    assert (cue.start, cue.warnings) == (0, ())
    assert cue.end == round(52 / 17 * 1000)


def test_a_short_word_is_shown_long_enough_to_be_read() -> None:
    made = cues([spoken("Yes.", 5_000, 150), spoken("No.", 9_000, 150)], 20_000, NETFLIX)
    assert [cue.end - cue.start for cue in made] == [833, 833]
    assert all(cue.warnings == () for cue in made)


def test_two_frames_stay_free_and_small_pauses_are_closed() -> None:
    long = "This is the first sentence, which takes two lines of text"
    first, second = cues([spoken(f"{long}.", 0, 350), spoken(f"And here, {long}.", 4_200, 350)], None, NETFLIX)
    assert second.start - first.end == NETFLIX.gap == 83


def test_another_speaker_begins_another_cue() -> None:
    made = cues([spoken("I think so", speaker="Anna"), spoken("me too.", 950, speaker="Ben")], None, NETFLIX)
    assert [(cue.speaker, cue.lines) for cue in made] == [("Anna", ("Anna: I think so",)), ("Ben", ("Ben: me too.",))]
    dashed = cues(
        [spoken("So.", speaker="Anna"), spoken("Yes.", 950, speaker="Ben")], None, replace(BBC, speakers="dashes")
    )
    assert lines(dashed) == [("– So.",), ("– Yes.",)]


def test_wide_characters_count_twice_and_take_no_spaces() -> None:
    text = "今日は天気がとてもいいので、公園まで散歩に行きました。それから友達と一緒に昼ご飯を食べました。"
    words = tuple(Word(at * 200, at * 200 + 200, char) for at, char in enumerate(text))
    made = cues([Segment(0, 200 * len(text), text, words, language="ja")], None, NETFLIX)
    assert "".join(cue.text.replace("\n", "") for cue in made) == text
    assert all(width(line) <= 42 for cue in made for line in cue.lines)
    assert made[0].text.replace("\n", "").endswith(("、", "。"))


def test_what_cannot_be_kept_is_a_warning() -> None:
    (cue,) = cues([Segment(0, 1_000, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk")], 1_000, NETFLIX)
    assert set(cue.warnings) == {"wide", "fast"}


def test_one_line_of_a_few_words_for_upright_video() -> None:
    made = cues([spoken("Everything that you say comes a few words at a time", each=250)], None, SOCIAL)
    assert all(len(cue.lines) == 1 and width(cue.lines[0]) <= SOCIAL.characters for cue in made)
    assert all(cue.words for cue in made)


def test_plain_leaves_segments_as_they_are() -> None:
    segments = [spoken("This is the first one. And here comes the second, which is much longer than a line.")]
    (cue,) = cues(segments, None, PLAIN)
    assert cue.lines == (segments[0].text.strip(),)


@pytest.mark.parametrize("rules", [NETFLIX, BBC, SOCIAL])
def test_an_hour_of_words_takes_no_more_than_memory_for_it(rules: CueRules) -> None:
    segments = [spoken("word " * 12 + "end.", at * 5_000, 350) for at in range(720)]
    made = cues(segments, 3_600_000, rules)
    assert sum(len(cue.words) for cue in made) == 720 * 13
