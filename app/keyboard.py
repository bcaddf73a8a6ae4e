"""A key that is watched everywhere, and typing for the user: each system has its way, in a file of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

WAYLAND = (
    "Wayland shows no program the keys of others, and lets none type for them. Record with Ctrl+R in the window and let"
    " the words go to the clipboard; or log in to an X11 session."
)
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "meta"})


class KeyRefusedError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True, slots=True)
class Combination:
    """A key with what is held together with it: names of Qt, in lower case."""

    modifiers: frozenset[str]
    key: str

    @classmethod
    def of(cls, spelt: str) -> Combination:
        """From "Ctrl+Alt+Space" or "F9". KeyRefusedError when it is none."""
        *modifiers, key = spelt.lower().replace("++", "+plus").split("+")
        if not key or not set(modifiers) <= _MODIFIERS:
            raise KeyRefusedError(f"“{spelt}” is no key that can be held.")
        return cls(frozenset(modifiers), key)


class Keyboard(Protocol):
    """One system's way to watch a key and to type."""

    def watch(self, key: Combination, ready: Callable[[], None], changed: Callable[[bool], None]) -> None:
        """Call `ready`, then `changed` with True and False as the key goes down and up, for ever. KeyRefusedError."""
        ...

    def type(self, text: str) -> None:
        """Type into the program that has the focus; from any thread. KeyRefusedError."""
        ...


def keyboard() -> Keyboard:
    """The one of this system. KeyRefusedError where there is none."""
    if sys.platform != "linux":
        from app.held_key_pynput import PynputKeyboard  # noqa: PLC0415 (each system has its own library)

        return PynputKeyboard()
    if os.environ.get("WAYLAND_DISPLAY") or os.environ.get("XDG_SESSION_TYPE") == "wayland":
        raise KeyRefusedError(WAYLAND)
    from app.held_key_x11 import X11Keyboard  # noqa: PLC0415

    return X11Keyboard()
