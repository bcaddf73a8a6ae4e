"""What is used of python-sounddevice, which has no stubs."""

from collections.abc import Callable, Mapping
from typing import Any

class PortAudioError(Exception): ...

class CallbackFlags:
    input_overflow: bool

class _Default:
    device: tuple[int, int]

default: _Default

def query_devices() -> list[Mapping[str, Any]]: ...

class RawInputStream:
    latency: float
    active: bool
    def __init__(
        self,
        samplerate: float,
        *,
        device: int,
        channels: int,
        dtype: str,
        callback: Callable[[Any, int, Any, CallbackFlags], None],
    ) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
