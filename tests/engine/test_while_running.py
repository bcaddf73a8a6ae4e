"""A long call gives signs of life, but not for ever, and ends as it would have without them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from engine.errors import Code, EngineError
from engine.protocol import Progress
from engine.while_running import Tell, while_running

EVERY = 0.01


def test_a_call_tells_how_far_it_is_and_gives_its_result() -> None:
    go_on = threading.Event()

    def call(tell: Tell) -> str:
        tell(3, 10)
        go_on.wait(20)
        return "built"

    results: list[str] = []

    def running() -> Iterator[Progress]:
        results.append((yield from while_running(7, call, EVERY)))

    for told in running():
        if told == Progress(7, "loading", 3, 10, None):
            go_on.set()
    assert go_on.is_set()
    assert results == ["built"]


def test_what_is_told_is_of_its_own_stage_and_what_comes_before_and_after_is_loading() -> None:
    told: list[Progress] = []

    def call(tell: Tell) -> None:
        for number, step in enumerate([(0, None), (0, 4), (1, 4), (4, 4)]):
            if step[1] is not None:
                tell(*step)
            while len(told) <= number:
                time.sleep(EVERY)

    for progress in while_running(7, call, EVERY, stage="building"):
        if [progress] != told[-1:]:
            told.append(progress)
    loading = Progress(7, "loading", 0, None, None)
    assert told == [loading, *(Progress(7, "building", done, 4, None) for done in (0, 1)), loading]


def test_a_call_that_fails_fails_here() -> None:
    def call(_tell: Tell) -> None:
        raise EngineError(Code.MODEL_DAMAGED, "as it is")

    with pytest.raises(EngineError, match="as it is"):
        list(while_running(1, call, EVERY))


def test_a_call_that_hangs_gives_no_sign_of_life_for_ever() -> None:
    ended = threading.Event()
    threading.Timer(1.0, ended.set).start()
    began = time.monotonic()
    last = began
    for _ in while_running(1, lambda _tell: ended.wait(20), EVERY, patience=0.2):
        last = time.monotonic()
    assert time.monotonic() - began >= 0.9
    assert last - began < 0.7


def test_what_goes_on_slowly_is_no_hang() -> None:
    def call(tell: Tell) -> None:
        for part in range(10):
            tell(part, 10)
            time.sleep(0.1)

    told = [progress.done for progress in while_running(1, call, EVERY, patience=0.5)]
    assert {0, 5, 9} <= set(told)
