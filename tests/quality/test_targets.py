"""The rules of the bench at their edges: what just holds, and what just does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from engines import BATCHED, BATCHED_GREEDY, FASTER, OURS, WHISPERCPP, WHISPERCPP_INT8
from figures import File, Measured, Runs
from targets import Target, clip_targets, long_targets, memory_targets

PEERS = (WHISPERCPP, WHISPERCPP_INT8, FASTER, BATCHED, BATCHED_GREEDY)
EN, MEETING, DE, JA = (
    File("en", "en", 10, 1),
    File("meeting", "en", 30, 4),
    File("de", "de", 10, 1),
    File("ja", "ja", 10, 1),
)


def runs(seconds: Mapping[str, float], errors: Mapping[str, int], units: int) -> dict[str, Runs]:
    """Of one file, by engine; peers need 100 s and make 10 errors where nothing is said."""
    return {name: Runs((seconds.get(name, 100.0),), (errors.get(name, 10),), units) for name in (OURS, *PEERS)}


def measured(*files: tuple[File, dict[str, Runs]]) -> Measured:
    by_engine = {name: tuple(of[name] for _, of in files) for name in (OURS, *PEERS)}
    return Measured(tuple(file for file, _ in files), by_engine, {})


def named(targets: list[Target], part: str) -> Target:
    [found] = [target for target in targets if part in target.what]
    return found


@pytest.mark.parametrize(("seconds", "holds"), [(25.0, True), (25.1, False)])
def test_clips_are_to_be_four_times_as_fast_as_whisper_cpp(seconds: float, holds: bool) -> None:
    targets = list(clip_targets(measured((EN, runs({OURS: seconds}, {}, 100)))))
    assert named(targets, f"speed, {WHISPERCPP_INT8}").holds is holds
    assert named(targets, f"speed, {FASTER}").holds is True


@pytest.mark.parametrize(("seconds", "holds"), [(66.6, True), (66.7, False)])
def test_long_recordings_are_to_be_half_as_fast_again_as_the_batched_pipeline(seconds: float, holds: bool) -> None:
    targets = list(long_targets(measured((EN, runs({OURS: seconds}, {}, 100)))))
    assert named(targets, "batch 8 beam 1").holds is holds
    assert named(targets, f"speed, {FASTER}").holds is False


@pytest.mark.parametrize(("errors", "holds"), [(9, True), (10, False)])
def test_english_may_have_four_words_more_wrong_than_the_better_peer(errors: int, holds: bool) -> None:
    of_file = runs({}, {OURS: errors, WHISPERCPP: 5, FASTER: 30}, 100)
    assert named(list(clip_targets(measured((EN, of_file)))), "English").holds is holds


def test_several_voices_and_other_languages_do_not_count_as_english() -> None:
    bad = runs({}, {OURS: 90, WHISPERCPP: 0}, 100)
    targets = list(clip_targets(measured((EN, runs({}, {}, 100)), (MEETING, bad), (DE, bad))))
    assert named(targets, "English").holds
    assert not named(targets, "other languages").holds


@pytest.mark.parametrize(("errors", "holds"), [(12, True), (13, False)])
def test_other_languages_are_pooled_and_may_be_a_point_worse(errors: int, holds: bool) -> None:
    files = (DE, runs({}, {OURS: errors}, 150)), (JA, runs({}, {}, 50))
    assert named(list(clip_targets(measured(*files))), "other languages").holds is holds


@pytest.mark.parametrize(
    ("units", "errors", "holds"),
    [(50, 12, True), (50, 13, False), (299, 12, True), (299, 13, False), (300, 13, True), (300, 14, False)],
)
def test_a_long_file_may_have_two_words_or_a_point_more_whichever_is_more(units: int, errors: int, holds: bool) -> None:
    of_file = runs({}, {OURS: errors, WHISPERCPP: 0, BATCHED: 0}, units)
    assert named(list(long_targets(measured((EN, of_file)))), "errors, en").holds is holds


def test_memory_that_nobody_measured_does_not_hold() -> None:
    peaks = {"good": 599_999_999, "bad": 600_000_000, "unknown": 0}
    assert [target.holds for target in memory_targets(peaks)] == [True, False, False]
