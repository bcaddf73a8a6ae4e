"""A held key and typing on macOS and Windows, through pynput. Never run by its authors: see docs/dictation.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.keyboard import Combination, KeyRefusedError

if TYPE_CHECKING:
    from pynput.keyboard import Key, KeyCode

_MODIFIERS = {"ctrl": "ctrl", "alt": "alt", "shift": "shift", "meta": "cmd"}
_TRUSTED = (
    "The system does not let Sottovoce see the key: allow it under Privacy & Security, Accessibility and Input"
    " Monitoring, and start Sottovoce again."
)


class PynputKeyboard:
    """One listener in the main thread; typing has a controller of its own."""

    def watch(self, key: Combination, ready: Callable[[], None], changed: Callable[[bool], None]) -> None:
        """See `Keyboard.watch`."""
        from pynput import keyboard  # noqa: PLC0415 (it looks for a screen when it is imported)

        wanted = {_name_of(keyboard.HotKey.parse(_spelt(key))[place]) for place in range(len(key.modifiers) + 1)}
        down, is_held = set[str](), False

        def press(pressed: Key | KeyCode | None) -> None:
            nonlocal is_held
            down.add(_name_of(listener.canonical(pressed)))
            if wanted <= down and not is_held:
                is_held = True
                changed(True)

        def release(released: Key | KeyCode | None) -> None:
            nonlocal is_held
            name = _name_of(listener.canonical(released))
            down.discard(name)
            if is_held and name in wanted:
                is_held = False
                changed(False)

        listener = keyboard.Listener(on_press=press, on_release=release)
        listener.start()
        listener.wait()
        if not getattr(listener, "IS_TRUSTED", True):
            raise KeyRefusedError(_TRUSTED)
        ready()
        listener.join()
        raise KeyRefusedError(_TRUSTED)

    def type(self, text: str) -> None:
        """See `Keyboard.type`."""
        from pynput import keyboard  # noqa: PLC0415

        try:
            keyboard.Controller().type(text)
        except keyboard.Controller.InvalidCharacterException as failure:
            raise KeyRefusedError("A character could not be typed: the text is in the clipboard.") from failure


def _spelt(key: Combination) -> str:
    """As pynput spells it: <ctrl>+<alt>+<space>, <ctrl>+a."""
    parts = [f"<{_MODIFIERS[name]}>" for name in sorted(key.modifiers)]
    return "+".join([*parts, key.key if len(key.key) == 1 else f"<{key.key}>"])


def _name_of(key: Key | KeyCode | None) -> str:
    return str(key)
