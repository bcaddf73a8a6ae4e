"""The held key on macOS and Windows, over a pynput of the test's own: the real one needs their screens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from app.held_key_pynput import PynputKeyboard
from app.keyboard import Combination, KeyRefusedError


class InvalidCharacterError(Exception):
    pass


class FakeListener:
    """Plays the keys of a script when it is joined, then ends as the system's does when it is taken away."""

    IS_TRUSTED = True
    script: tuple[tuple[str, str], ...] = ()

    def __init__(self, on_press: Callable[[str], None], on_release: Callable[[str], None]) -> None:
        self._act = {"down": on_press, "up": on_release}

    def start(self) -> None: ...

    def wait(self) -> None: ...

    def canonical(self, key: str) -> str:
        return key.removesuffix("_l")

    def join(self) -> None:
        for what, key in self.script:
            self._act[what](key)


class FakeController:
    InvalidCharacterException = InvalidCharacterError
    typed: list[str] = []  # noqa: RUF012

    def type(self, text: str) -> None:
        if "\0" in text:
            raise InvalidCharacterError
        self.typed.append(text)


class FakeHotKey:
    @staticmethod
    def parse(keys: str) -> list[str]:
        return [key.strip("<>") for key in keys.split("+")]


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> type[FakeListener]:
    package, keyboard = ModuleType("pynput"), ModuleType("pynput.keyboard")
    for name, value in {"Listener": FakeListener, "Controller": FakeController, "HotKey": FakeHotKey}.items():
        setattr(keyboard, name, value)
    package.keyboard = keyboard  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynput", package)
    monkeypatch.setitem(sys.modules, "pynput.keyboard", keyboard)
    return FakeListener


def watched(combination: str) -> tuple[list[bool | str], str]:
    """What is told of the key, and the sentence at the end."""
    told: list[bool | str] = []
    with pytest.raises(KeyRefusedError) as caught:
        PynputKeyboard().watch(Combination.of(combination), lambda: told.append("ready"), told.append)
    return told, str(caught.value)


def test_the_combination_is_pressed_once_and_released_with_any_of_its_keys(
    listener: type[FakeListener], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = (("down", "ctrl_l"), ("down", "space"), ("down", "space"), ("up", "ctrl_l"), ("up", "space"), ("down", "x"))
    monkeypatch.setattr(listener, "script", keys)
    assert watched("Ctrl+Space")[0] == ["ready", True, False]


def test_a_part_of_the_combination_is_not_the_combination(
    listener: type[FakeListener], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "script", (("down", "space"), ("up", "space"), ("down", "alt"), ("up", "alt")))
    assert watched("Ctrl+Alt+Space")[0] == ["ready"]


def test_a_system_that_shows_no_keys_is_a_sentence(
    listener: type[FakeListener], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "IS_TRUSTED", False)
    told, why = watched("F9")
    assert told == []
    assert "Privacy & Security" in why


def test_text_is_typed_and_what_cannot_be_is_a_sentence(listener: type[FakeListener]) -> None:
    PynputKeyboard().type("Grüße 🎉")
    assert FakeController.typed == ["Grüße 🎉"]
    with pytest.raises(KeyRefusedError, match="clipboard"):
        PynputKeyboard().type("\0")


@pytest.mark.parametrize("spelt", ["", "Ctrl+", "Hyper+A"])
def test_what_is_no_combination_is_refused(spelt: str) -> None:
    with pytest.raises(KeyRefusedError, match="no key that can be held"):
        Combination.of(spelt)


def test_the_plus_key_can_be_held() -> None:
    assert Combination.of("Ctrl++") == Combination(frozenset({"ctrl"}), "plus")
