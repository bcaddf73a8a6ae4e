"""A held key and typing on X11: a passive grab of the key, and keys of XTEST.

Characters that no key has get one for a moment: free keycodes are given their keysyms (X Consortium, "X Window System
Protocol", appendix A: Latin-1 is itself, all other Unicode is 0x01000000 + its number).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain, combinations

from Xlib import XK, X, display, error
from Xlib.ext import xtest

from app.keyboard import Combination, KeyRefusedError

_MASKS = {"ctrl": X.ControlMask, "alt": X.Mod1Mask, "shift": X.ShiftMask, "meta": X.Mod4Mask}
_LOCKS = (X.LockMask, X.Mod2Mask)  # Caps Lock and Num Lock are no part of a combination
_NAMES = {
    "ins": "Insert", "del": "Delete", "pgup": "Prior", "pgdown": "Next", "esc": "Escape", "return": "Return",
    "enter": "KP_Enter", "backspace": "BackSpace", "scrolllock": "Scroll_Lock", "pause": "Pause",
}  # fmt: skip
_LINE, _TAB = 0xFF0D, 0xFF09
_UNICODE = 0x0100_0000
_LATIN = range(0x20, 0x100)
_SETTLE_S = 0.08  # until programs know the new meaning of a key
_STROKE_S = 0.004
_STILL_HELD_S = 3.0  # so long typing waits for Ctrl and the like to be let go
_LOST = "The connection to the screen was lost."


class X11Keyboard:
    """Two connections: one waits for the key in the main thread, the other types."""

    def __init__(self) -> None:
        try:
            self._watching, self._typing = display.Display(), display.Display()
        except (error.DisplayError, OSError) as failure:
            raise KeyRefusedError(f"There is no X11 screen to watch: {failure}") from failure

    def watch(self, key: Combination, ready: Callable[[], None], changed: Callable[[bool], None]) -> None:
        """See `Keyboard.watch`."""
        code = self._watching.keysym_to_keycode(_keysym(key.key))
        if not code:
            raise KeyRefusedError(f"This keyboard has no key “{key.key}”.")
        self._grab(code, sum(_MASKS[name] for name in key.modifiers))
        ready()
        is_down = False
        try:
            while True:
                event = self._watching.next_event()
                if event.type not in (X.KeyPress, X.KeyRelease) or event.detail != code:
                    continue
                if event.type == X.KeyRelease and self._is_held(code):
                    continue  # it repeats itself
                if (event.type == X.KeyPress) != is_down:
                    is_down = not is_down
                    changed(is_down)
        except (error.ConnectionClosedError, OSError) as failure:
            raise KeyRefusedError(_LOST) from failure

    def type(self, text: str) -> None:
        """See `Keyboard.type`."""
        try:
            self._wait_until_let_go()
            spare = self._spare_codes()
            for piece in _pieces(text, len(spare)):
                self._type_piece(piece, spare)
        except (error.ConnectionClosedError, OSError) as failure:
            raise KeyRefusedError(_LOST) from failure

    def _grab(self, code: int, mask: int) -> None:
        root, refused = self._watching.screen().root, error.CatchError(error.BadAccess)
        for locks in chain.from_iterable(combinations(_LOCKS, count) for count in range(len(_LOCKS) + 1)):
            root.grab_key(code, mask | sum(locks), False, X.GrabModeAsync, X.GrabModeAsync, onerror=refused)
        self._watching.sync()
        if refused.get_error():
            raise KeyRefusedError("Another program holds this key already: choose another one.")

    def _is_held(self, code: int) -> bool:
        return bool(self._watching.query_keymap()[code // 8] & 1 << code % 8)

    def _wait_until_let_go(self) -> None:
        """With Ctrl held, letters are commands."""
        until = time.monotonic() + _STILL_HELD_S
        while time.monotonic() < until:
            mask = self._typing.screen().root.query_pointer().mask
            if not mask & (X.ControlMask | X.Mod1Mask | X.Mod4Mask | X.ShiftMask):
                return
            time.sleep(0.02)
        raise KeyRefusedError("A key is held down, so nothing was typed: the text is in the clipboard.")

    def _spare_codes(self) -> list[int]:
        """Keycodes that mean nothing."""
        first, last = self._typing.display.info.min_keycode, self._typing.display.info.max_keycode
        mapping = self._typing.get_keyboard_mapping(first, last - first + 1)
        spare = [first + place for place, syms in enumerate(mapping) if not any(syms)]
        if not spare:
            raise KeyRefusedError("This keyboard has no free key to type with: the text is in the clipboard.")
        return spare

    def _type_piece(self, piece: str, spare: list[int]) -> None:
        codes = dict(zip(dict.fromkeys(piece), spare, strict=False))
        for char, code in codes.items():
            sym = _sym_of(char)
            self._typing.change_keyboard_mapping(code, [(sym, sym)])
        self._typing.sync()
        time.sleep(_SETTLE_S)
        for char in piece:
            for kind in (X.KeyPress, X.KeyRelease):
                xtest.fake_input(self._typing, kind, codes[char])
                self._typing.sync()
                time.sleep(_STROKE_S)
        time.sleep(_SETTLE_S)
        for code in codes.values():
            self._typing.change_keyboard_mapping(code, [(X.NoSymbol, X.NoSymbol)])
        self._typing.sync()


def _keysym(name: str) -> int:
    sym = XK.string_to_keysym(_NAMES.get(name, name)) or XK.string_to_keysym(name.capitalize())
    if not sym and len(name) == 1:
        sym = _sym_of(name)
    if not sym:
        raise KeyRefusedError(f"X11 knows no key “{name}”.")
    return sym


def _sym_of(char: str) -> int:
    if char == "\n":
        return _LINE
    if char == "\t":
        return _TAB
    return ord(char) if ord(char) in _LATIN else _UNICODE + ord(char)


def _pieces(text: str, most: int) -> Iterator[str]:
    """The text in pieces of at most so many different characters; control characters are left out."""
    piece, known = "", set[str]()
    for char in text.replace("\r\n", "\n"):
        if char < " " and char not in "\n\t":
            continue
        if len(known | {char}) > most:
            yield piece
            piece, known = "", set[str]()
        piece += char
        known.add(char)
    if piece:
        yield piece
