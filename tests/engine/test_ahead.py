"""Items made ahead are the same items, and nobody makes any once they are not wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from engine.ahead import ahead


def test_the_items_are_the_same_and_in_order() -> None:
    assert list(ahead(iter(range(50)), 4)) == list(range(50))


def test_they_are_made_before_they_are_asked_for_but_not_too_many() -> None:
    made = threading.Semaphore(0)
    count: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            count.append(number)
            made.release()
            yield number

    going = ahead(items(), 3)
    assert next(going) == 0
    for _ in range(4):  # the one that was taken, and three ahead
        assert made.acquire(timeout=5)
    assert not made.acquire(timeout=0.2)
    assert len(count) == 4
    going.close()


def test_an_error_comes_where_its_item_would() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("the third")

    going = ahead(items(), 5)
    assert [next(going), next(going)] == [1, 2]
    with pytest.raises(ValueError, match="the third"):
        next(going)


def test_closing_waits_for_the_item_that_is_being_made() -> None:
    busy = threading.Event()
    state: list[str] = []

    def items() -> Iterator[int]:
        yield 0
        state.append("in")
        busy.set()
        threading.Event().wait(0.2)
        state.append("out")
        yield 1

    going = ahead(items(), 2)
    assert next(going) == 0
    busy.wait()
    going.close()
    assert state == ["in", "out"]
