"""The bench's arithmetic: what pools, what is a median, and what the bootstrap's interval says."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from figures import File, Measured, Runs, difference_in_errors, difference_in_points
from score import Score


def measured(**seconds: list[tuple[float, ...]]) -> Measured:
    """Engines by name on files of 10 and 30 s, with the seconds of each run and no errors."""
    files = (File("short", "en", 10, 1), File("long", "en", 30, 1))
    runs = {name: tuple(Runs(one, (0,) * len(one), 10) for one in of) for name, of in seconds.items()}
    return Measured(files, runs, dict.fromkeys(runs, 0))


def test_a_disturbed_run_does_not_change_a_speed() -> None:
    one = measured(ours=[(1.0, 9.0, 1.0), (3.0, 3.0, 99.0)])
    assert one.speed("ours") == pytest.approx(40 / 4)


def test_a_long_file_weighs_as_much_as_it_is_long() -> None:
    one = measured(ours=[(1.0,), (1.0,)])
    assert one.speed("ours") == pytest.approx(20)  # and not the mean of 10 and 30


def test_a_ratio_is_above_one_when_we_are_faster_and_tells_its_single_runs() -> None:
    one = measured(ours=[(1.0, 1.0, 2.0), (1.0, 1.0, 2.0)], theirs=[(3.0, 5.0, 4.0), (3.0, 5.0, 4.0)])
    ratio = one.ratio("ours", "theirs")
    assert (ratio.value, ratio.least, ratio.most) == (4.0, 2.0, 5.0)


def test_errors_are_the_median_of_the_runs() -> None:
    assert Runs((1.0, 1.0, 1.0), (7, 2, 3), 20).score == Score(3, 20)
    assert Runs((1.0, 1.0), (7, 2), 20).score == Score(2, 20)


def test_only_files_that_are_kept_are_pooled() -> None:
    files = (File("a", "en", 1, 1), File("b", "de", 1, 1))
    both = Measured(files, {"ours": (Runs((1.0,), (1,), 10), Runs((1.0,), (5,), 30))}, {})
    assert both.pooled("ours") == Score(6, 40)
    assert both.pooled("ours", lambda file: file.language == "de") == Score(5, 30)


def test_equal_engines_differ_by_nothing_however_hard_the_files_are() -> None:
    hard = [Score(0, 10), Score(80, 100), Score(3, 7)]
    for difference in (difference_in_errors(hard, hard), difference_in_points(hard, hard)):
        assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_ours_less_theirs_is_positive_when_we_are_worse() -> None:
    ours, theirs = [Score(2, 10)] * 5, [Score(1, 10)] * 5
    errors, points = difference_in_errors(ours, theirs), difference_in_points(ours, theirs)
    assert (errors.value, errors.low, errors.high) == (5, 5, 5)
    assert (points.value, points.low, points.high) == (10, 10, 10)


def test_points_are_pooled_and_not_averaged_over_files() -> None:
    points = difference_in_points([Score(1, 1), Score(0, 99)], [Score(0, 1), Score(0, 99)])
    assert points.value == pytest.approx(1)


def test_the_interval_is_as_wide_as_statistics_say() -> None:
    """For many files it is near the normal one: ± 1.96 · standard deviation · √n."""
    more = np.random.default_rng(1).integers(-3, 4, 400)
    difference = difference_in_errors([Score(10 + int(d), 50) for d in more], [Score(10, 50)] * len(more))
    half = NormalDist().inv_cdf(0.975) * more.std() * np.sqrt(len(more))
    assert difference.low == pytest.approx(more.sum() - half, abs=0.08 * half)
    assert difference.high == pytest.approx(more.sum() + half, abs=0.08 * half)


def test_the_interval_is_the_same_every_time() -> None:
    ours, theirs = [Score(n % 4, 9) for n in range(20)], [Score(n % 3, 9) for n in range(20)]
    assert difference_in_errors(ours, theirs) == difference_in_errors(ours, theirs)
