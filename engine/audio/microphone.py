"""The microphone, through PortAudio: what there is, and the process that hears one of them.

PortAudio looks for devices once in a process and may hang on one that was pulled out. So each opening is a process of
its own that can be killed: it sends packets (engine/audio/packets.py) and knows nothing of files. Its callback only
copies and queues.
"""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import msgspec

from engine.audio.packets import Device, Failure, Heard, OpenedPacket, Packet, write_packet
from engine.errors import Code, EngineError
from engine.pipe import leave, take_stdout, watch_parent

if TYPE_CHECKING:
    from types import ModuleType

    from sounddevice import CallbackFlags, RawInputStream

_SEND_EVERY = 0.04  # seconds; what is queued in between is lost when the process is killed
_LARGEST = 1 << 15  # bytes of a packet, and what the last callback gave
_MOST_CHANNELS = 2
_LONGEST_DRAIN = 0.5  # seconds


def devices() -> list[Device]:
    """The microphones at the start of this process, the default one first.

    On systems with several sound interfaces those of the default one, so that each appears once.
    EngineError NO_SOUND_SYSTEM.
    """
    sd = _sounddevice()
    default = int(sd.default.device[0])
    every = [dict[str, Any](device) for device in sd.query_devices()]
    interface = every[default]["hostapi"] if default >= 0 else None
    found = [
        Device(device["name"], device["max_input_channels"], round(device["default_samplerate"]), index == default)
        for index, device in enumerate(every)
        if device["max_input_channels"] > 0 and interface in (None, device["hostapi"])
    ]
    return sorted(found, key=lambda device: not device.is_default)


def tell_devices() -> NoReturn:
    """Write the list, or why there is none, as one JSON value, and end the process."""
    out = take_stdout()
    try:
        told = msgspec.json.encode(devices())
    except EngineError as error:
        told = msgspec.json.encode(Failure(error.code, error.detail))
    out.write(told)
    out.flush()
    leave(0)


def chosen(found: list[Device], wanted: str | None) -> Device:
    """The default one, or the one of this name or the only one with this in its name. EngineError NO_MICROPHONE."""
    if not wanted:
        if not found:
            raise EngineError(Code.NO_MICROPHONE)
        return found[0]
    named = [device for device in found if device.name == wanted]
    named = named or [device for device in found if wanted.casefold() in device.name.casefold()]
    if len(named) != 1:
        there = ", ".join(device.name for device in found) or "none"
        raise EngineError(Code.NO_MICROPHONE, f"“{wanted}” names {len(named)} of these: {there}.")
    return named[0]


def serve(wanted: str | None, channel: int | None) -> NoReturn:
    """Send what the microphone hears until a line comes in, then what it still has, and end the process."""
    out = take_stdout()
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the one who reads this
    watch_parent(sys.stdin.buffer, lambda _line: stop.set())
    try:
        _hear(chosen(devices(), wanted), channel, out, stop)
    except EngineError as error:
        write_packet(out, Failure(error.code, error.detail))
        leave(1)
    except BrokenPipeError:
        leave(1)
    leave(0)


def _hear(device: Device, channel: int | None, out: BinaryIO, stop: threading.Event) -> None:
    sd = _sounddevice()
    heard: queue.SimpleQueue[Packet] = queue.SimpleQueue()
    channels = channel or min(device.channels, _MOST_CHANNELS)

    def callback(data: Any, _frames: int, _times: object, status: CallbackFlags) -> None:  # noqa: ANN401
        heard.put(Heard(bytes(data), bool(status.input_overflow)))

    try:
        stream: RawInputStream = sd.RawInputStream(
            device.rate, device=_index(sd, device), channels=channels, dtype="int16", callback=callback
        )
        write_packet(out, OpenedPacket(device.name, device.rate, channels, channel))
        stream.start()
        while not stop.wait(_SEND_EVERY) and stream.active:
            _send(heard, out)
        if stream.active:
            time.sleep(min(stream.latency + 0.1, _LONGEST_DRAIN))  # what is said already, but still in the device
        _send(heard, out)
        stream.stop()
        _send(heard, out)
    except (sd.PortAudioError, ValueError) as error:
        _send(heard, out)
        raise EngineError(Code.MICROPHONE_REFUSED, f"{device.name}: {error}") from error


def _send(heard: queue.SimpleQueue[Packet], out: BinaryIO) -> None:
    """Everything that is queued, in packets as large as 40 ms usually are, also when there is much of it."""
    sound, overflow = bytearray(), False
    while not heard.empty():
        if len(sound) >= _LARGEST:
            write_packet(out, Heard(bytes(sound), overflow))
            sound, overflow = bytearray(), False
        packet = heard.get()
        assert isinstance(packet, Heard)
        sound += packet.sound
        overflow |= packet.overflow
    if sound:
        write_packet(out, Heard(bytes(sound), overflow))


def _index(sd: ModuleType, device: Device) -> int:
    """PortAudio's number of the device; its names may be parts of each other."""
    if device.is_default:
        return int(sd.default.device[0])
    every = list(sd.query_devices())
    return next(
        index for index, one in enumerate(every) if one["name"] == device.name and one["max_input_channels"] > 0
    )


def _sounddevice() -> ModuleType:
    """The library, which is there only where PortAudio is. EngineError NO_SOUND_SYSTEM."""
    try:
        import sounddevice  # noqa: PLC0415 (OSError without PortAudio)
    except (ImportError, OSError) as error:
        raise EngineError(Code.NO_SOUND_SYSTEM, str(error)) from error
    return sounddevice
