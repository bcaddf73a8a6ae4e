"""A process that watches one key everywhere and types for the user: `python -m app.held_key "Ctrl+Alt+Space"`."""

from __future__ import annotations

import sys
from collections.abc import Callable

import msgspec

from app.held_key_protocol import Event, Pressed, Ready, Refused, Released, Typed, decode_command, encode
from app.keyboard import Combination, Keyboard, KeyRefusedError, keyboard
from engine.pipe import leave, take_stdout, watch_parent


def main(spelt: str) -> None:
    """Serve until the window is gone, or the keyboard is."""
    out = take_stdout()

    def say(event: Event) -> None:
        out.write(encode(event))
        out.flush()

    try:
        serve(keyboard(), spelt, say)
    except KeyRefusedError as error:
        say(Refused(str(error)))
    except BrokenPipeError:
        pass  # nobody listens any more
    leave(1)


def serve(keys: Keyboard, spelt: str, say: Callable[[Event], None]) -> None:
    """Watch the key, and type what comes in on stdin."""
    combination = Combination.of(spelt)

    def take(line: bytes) -> None:
        try:
            keys.type(decode_command(line).text)
            say(Typed())
        except (KeyRefusedError, msgspec.MsgspecError) as error:
            say(Refused(str(error)))

    watch_parent(sys.stdin.buffer, take)
    keys.watch(combination, lambda: say(Ready()), lambda down: say(Pressed() if down else Released()))


if __name__ == "__main__":
    main(sys.argv[1])
