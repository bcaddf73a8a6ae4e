"""A key that is held in another program: it is noticed there, and text is typed there, whatever its characters."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.held_key_protocol import Event, Pressed, Ready, Refused, Released, Type, Typed, decode_event, encode
from app.keyboard import WAYLAND
from app.settings import Settings
from tests.e2e.screen import Screen, wait_for
from tests.e2e.window import ended, open_window
from tests.virtual_mic import VirtualMicrophone

pytestmark = [
    pytest.mark.window,
    pytest.mark.skipif(sys.platform != "linux", reason="X11; the others need a machine with that system"),
]

SENTENCE = "Good morning everyone, and welcome to the first meeting of the year."


@dataclass
class Helper:
    """The process that watches the key."""

    process: subprocess.Popen[bytes]
    said: list[Event] = field(default_factory=list)

    def next(self) -> Event:
        assert self.process.stdout
        self.said.append(decode_event(self.process.stdout.readline()))
        return self.said[-1]

    def type(self, text: str) -> Event:
        assert self.process.stdin
        self.process.stdin.write(encode(Type(text)))
        self.process.stdin.flush()
        return self.next()


@pytest.fixture
def watch() -> Iterator[Callable[..., Helper]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(key: str, environment: dict[str, str]) -> Helper:
        command = [sys.executable, "-P", "-m", "app.held_key", key]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment))
        return Helper(started[-1])

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def typed(screen: Screen, tmp_path: Path) -> Path:
    """A field of another program that has the focus, and the file with what is in it."""
    file = tmp_path / "typed.txt"
    screen.start(sys.executable, Path(__file__).with_name("text_field.py"), file)
    screen.do("windowactivate", "--sync", screen.window("text field"))
    return file


def test_a_key_that_repeats_itself_is_pressed_once_and_released_once(
    screen: Screen, watch: Callable[..., Helper], typed: Path
) -> None:
    helper = watch("Ctrl+Alt+Space", screen.environment)
    assert helper.next() == Ready()
    screen.do("keydown", "ctrl", "keydown", "alt", "keydown", "space")
    assert helper.next() == Pressed()
    time.sleep(1.0)  # X repeats a held key after 0.66 s
    screen.do("keyup", "space", "keyup", "alt", "keyup", "ctrl")
    assert helper.next() == Released()
    screen.do("key", "ctrl+alt+space")
    assert [helper.next(), helper.next()] == [Pressed(), Released()]


@pytest.mark.parametrize(
    "text",
    [
        'Plain words, 1 + 1 = 2; "quotes" & <tags>.',
        "Grüße aus Köln, ça va? Ñandú — “ja”.",
        "今日は天気がいい。Привет, мир! שלום",
        "Two lines\nand 🎉 emoji 👍",
        "".join(chr(number) for number in range(0x4E00, 0x4E00 + 300)),
    ],
    ids=["ascii", "accents", "scripts", "lines", "more characters than keys"],
)
def test_any_text_is_typed_exactly(screen: Screen, watch: Callable[..., Helper], typed: Path, text: str) -> None:
    helper = watch("F9", screen.environment)
    assert helper.next() == Ready()
    assert helper.type(text) == Typed()
    wait_for(lambda: typed.exists() and len(typed.read_text("utf-8")) >= len(text), 10)
    assert typed.read_text("utf-8") == text


def test_a_key_that_another_program_holds_is_refused_in_a_sentence(
    screen: Screen, watch: Callable[..., Helper]
) -> None:
    assert watch("F9", screen.environment).next() == Ready()
    second = watch("F9", screen.environment)
    assert second.next() == Refused("Another program holds this key already: choose another one.")
    assert second.process.wait(5) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0"}, WAYLAND),
        ({"DISPLAY": ":9999"}, "There is no X11 screen to watch"),
        ({"DISPLAY": ""}, "There is no X11 screen to watch"),
    ],
    ids=["wayland", "no server", "no display"],
)
def test_where_it_cannot_be_done_there_is_a_sentence(
    watch: Callable[..., Helper], changes: dict[str, str], why: str
) -> None:
    refused = watch("F9", {**os.environ, **changes}).next()
    assert isinstance(refused, Refused)
    assert refused.why.startswith(why)


def test_a_key_that_there_is_none_of_is_a_sentence(screen: Screen, watch: Callable[..., Helper]) -> None:
    helper = watch("no such key", screen.environment)
    assert helper.next() == Refused("X11 knows no key “no such key”.")


def test_what_is_said_while_the_key_is_held_is_typed_into_the_other_program(
    screen: Screen, data: Path, microphone: VirtualMicrophone, speak: Callable[..., Path], typed: Path
) -> None:
    Settings(data / "settings.json").change(held_key="F9", model="tiny.en")
    window = open_window(screen, data, **microphone.env)
    screen.do("windowminimize", window)
    screen.do("windowactivate", "--sync", screen.window("text field"))
    time.sleep(1)
    screen.do("keydown", "F9")
    wait_for(lambda: any(path.stat().st_size > 20_000 for path in data.glob("recordings/*/audio.wav")))
    microphone.play(speak(SENTENCE)).wait()
    screen.do("keyup", "F9")
    wait_for(lambda: ended(data), 60)
    wait_for(lambda: typed.exists() and "year" in typed.read_text("utf-8"), 20)
    assert "welcome to the first meeting" in typed.read_text("utf-8").lower()
