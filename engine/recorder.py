"""The recorder: a process that hears a microphone and writes it down, whatever else goes wrong.

The microphone's process sends packets, commands come on stdin; both go into one queue, and one loop takes from it.
Nothing in the loop waits for anybody but the disk: events are sent, speech is found and the disk is synced by threads.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from engine.audio.meter import Meter, SpeechLight
from engine.audio.microphone_process import MicrophoneProcess
from engine.audio.packets import Failure, Heard, OpenedPacket, Packet
from engine.errors import Code, EngineError
from engine.pipe import leave, take_stdout, watch_parent
from engine.protocol import ProtocolError
from engine.recorder_protocol import (
    Command,
    Device,
    Event,
    Failed,
    Level,
    Lost,
    Opened,
    Overflow,
    Pause,
    Resume,
    Silent,
    Stop,
    Stopped,
    decode_command,
    encode,
)
from engine.recorder_protocol import Gap as GapEvent
from engine.recording import Gap, Why
from engine.recording_writer import PART_BYTES, FreeMinutes, RecordingWriter

if TYPE_CHECKING:
    from engine.audio.wav import Pcm

_TICK = 0.1  # seconds
_SILENCE_MEANS_LOST = 1.0  # seconds without a packet
_OPENING_TAKES = 10.0  # seconds at most until the first packet; Bluetooth takes its time
_RETRY_EVERY = 1.0
_DRAINING_TAKES = 1.5  # seconds at most, from the wish to stop to the last packet
_BACKLOG = 200  # events that nobody takes; then levels are left out

_Item: TypeAlias = "tuple[MicrophoneProcess, Packet | None] | bytes"


def serve(data: Path, device: str | None, channel: int | None, part_bytes: int | None) -> NoReturn:
    """Record until Stop or the end of stdin, then end the process: 0, or 1 when something stopped it."""
    sender = _Sender()
    inbox: queue.SimpleQueue[_Item] = queue.SimpleQueue()
    stop = encode(Stop())
    watch_parent(sys.stdin.buffer, inbox.put, at_end=lambda: inbox.put(stop))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the one who started this
    signal.signal(signal.SIGTERM, lambda _number, _frame: inbox.put(stop))
    code = Recorder(data, channel, inbox, sender, part_bytes or PART_BYTES).run(device)
    sender.close()
    leave(code)


class Recorder:
    """One recording from its first opened microphone to its end."""

    def __init__(
        self, data: Path, channel: int | None, inbox: queue.SimpleQueue[_Item], sender: _Sender, part_bytes: int
    ) -> None:
        self._data, self._channel, self._inbox, self._sender = data, channel, inbox, sender
        self._part_bytes = part_bytes
        self._writer: RecordingWriter | None = None
        self._microphone: MicrophoneProcess | None = None
        self._form: OpenedPacket | None = None  # of the microphone that is open
        self._heard_at = 0.0  # monotonic: the last packet's arrival, or the recording's begin
        self._patient_until = 0.0  # monotonic: without a packet until then the microphone is lost
        self._missing: tuple[float, Why] | None = None  # since when nothing was heard, until it is again
        self._next: str | None = None  # the microphone to open when this one has ended
        self._retry_at = float("inf")
        self._is_stopping = self._is_paused = False
        self._overflows = 0
        self._meter, self._light = Meter(), SpeechLight()
        self._free_minutes = FreeMinutes()

    def run(self, device: str | None) -> int:
        """Record; the exit code of the process."""
        self._open(device)
        try:
            while not (self._is_stopping and self._microphone is None):
                self._step()
            failed = None
        except EngineError as error:
            failed = Failed(error.code, error.detail)
            self._sender.send(failed)
        if self._microphone:
            self._microphone.kill()
        return self._close(failed)

    def _step(self) -> None:
        try:
            item = self._inbox.get(timeout=_TICK)
        except queue.Empty:
            item = None
        if isinstance(item, bytes):
            self._obey(item)
        elif item is not None and item[0] is self._microphone:  # else it comes from one that was given up
            self._take(item[1])
        now = time.monotonic()
        if self._microphone is not None and now > self._patient_until:
            self._lose("No sound came any more.")
        if now >= self._retry_at and not self._is_stopping:
            self._open(self._next or None)
        if self._writer:
            self._writer.keep_up()

    def _obey(self, line: bytes) -> None:
        try:
            command: Command = decode_command(line)
        except ProtocolError as error:
            self._sender.send(Failed(Code.BAD_COMMAND, str(error)))
            return
        match command:
            case Stop():
                self._is_stopping = True
                self._let_go()
            case Device():
                self._next = command.name
                self._let_go()
            case Pause():
                if not self._is_paused and self._writer:
                    self._writer.mark(Gap(self._writer.now, self._writer.now, "paused"))
                self._is_paused = True
            case Resume():
                self._is_paused = False

    def _take(self, packet: Packet | None) -> None:
        match packet:
            case Heard():
                self._hear(packet)
            case OpenedPacket():
                self._form = packet
                if self._writer is None:
                    channels = 1 if packet.only else packet.channels
                    self._heard_at = time.monotonic()
                    self._writer = RecordingWriter(self._data, packet.device, packet.rate, channels, self._part_bytes)
                    self._tell_opened(packet)
            case Failure():
                if self._writer is None:
                    raise EngineError(Code(packet.code), packet.detail)
                self._lose(str(EngineError(Code(packet.code), packet.detail)))
            case None:
                self._end_of_microphone()

    def _hear(self, packet: Heard) -> None:
        form, writer = self._form, self._writer
        assert form
        assert writer
        samples: Pcm = np.frombuffer(packet.sound, "<i2").reshape(-1, form.channels)
        samples = samples[:, form.only - 1 :][:, :1] if form.only else samples
        now = time.monotonic()
        if self._missing:
            since, why = self._missing
            self._go_on(form, 0 if self._is_paused else now - since - len(samples) / form.rate, why)
        self._heard_at, self._patient_until = now, max(now + _SILENCE_MEANS_LOST, self._ending_at())
        if not self._is_paused:
            if packet.overflow:
                self._note_overflow(writer)
            writer.append(samples)
        self._show(samples, form.rate, writer)

    def _ending_at(self) -> float:
        """A microphone that is to end keeps the time that it was given for that."""
        return self._patient_until if self._is_stopping or self._next is not None else 0.0

    def _go_on(self, form: OpenedPacket, missing: float, why: Why) -> None:
        assert self._writer
        self._missing = None
        gap = self._writer.go_on(
            form.device, form.rate, 1 if form.only else form.channels, max(0, round(missing * 1000)), why
        )
        self._tell_opened(form)
        self._sender.send(GapEvent(gap.start, gap.end, gap.why))

    def _note_overflow(self, writer: RecordingWriter) -> None:
        self._overflows += 1
        writer.mark(Gap(writer.now, writer.now, "overflow"))
        self._sender.send(Overflow(writer.now, self._overflows))

    def _show(self, samples: Pcm, rate: int, writer: RecordingWriter) -> None:
        self._light.feed(samples, rate)
        if loudness := self._meter.feed(samples, rate):
            free = self._free_minutes.of(writer)
            self._sender.send(Level(writer.now, loudness.peak, loudness.rms, self._light.is_on, free))
        if self._meter.became_silent():
            self._sender.send(Silent(writer.now))

    def _open(self, device: str | None) -> None:
        self._retry_at, self._next = float("inf"), None
        self._patient_until = time.monotonic() + _OPENING_TAKES
        self._microphone = MicrophoneProcess(device, self._channel, self._inbox.put)

    def _let_go(self) -> None:
        """Let the microphone give what it still has; what comes next waits for its end."""
        if self._microphone is None:
            self._retry_at = time.monotonic()
        elif self._form is None:  # not open yet: it has nothing
            self._microphone.kill()
        else:
            self._patient_until = time.monotonic() + _DRAINING_TAKES
            self._microphone.ask_to_stop()

    def _end_of_microphone(self) -> None:
        if self._next is not None:
            self._microphone, self._retry_at = None, time.monotonic()
            if self._writer:
                self._missing = self._missing or (self._heard_at, "switched")
        elif self._is_stopping:
            self._microphone = None
        else:
            death = self._microphone.death if self._microphone else None
            if death and self._writer is None:
                raise EngineError(Code.SOUND_SYSTEM_BROKEN, death.detail)
            self._lose(death.detail if death else "It ended by itself.")

    def _lose(self, detail: str) -> None:
        """The microphone is gone: try the default one until it, or another, is there."""
        if self._microphone:
            self._microphone.kill()
        self._microphone = None
        if self._writer is None and not self._is_stopping:
            raise EngineError(Code.MICROPHONE_REFUSED, detail)
        self._retry_at = time.monotonic() + (_RETRY_EVERY if self._missing else 0)
        if (self._missing is None or self._missing[1] != "lost") and self._writer and not self._is_stopping:
            self._missing = (self._heard_at, "lost")
            self._sender.send(Lost(self._writer.now, detail))

    def _tell_opened(self, form: OpenedPacket) -> None:
        assert self._writer
        folder = os.fsencode(self._writer.folder)
        self._sender.send(Opened(folder, form.device, form.rate, self._writer.channels, self._writer.now))

    def _close(self, failed: Failed | None) -> int:
        if self._writer is None:
            return 1 if failed else 0
        try:
            self._writer.close()
        except EngineError as error:
            if failed is None:
                failed = Failed(error.code, error.detail)
                self._sender.send(failed)
        self._sender.send(Stopped(os.fsencode(self._writer.folder), self._writer.now))
        return 1 if failed else 0


class _Sender:
    """Events to whoever listens, from a thread: one who does not listen must not hold up the recording."""

    def __init__(self) -> None:
        self._out = take_stdout()
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        """Send it soon; a level that would come too late is left out."""
        if not isinstance(event, Level) or self._events.qsize() < _BACKLOG:
            self._events.put(event)

    def close(self) -> None:
        """Give what was said a moment to be heard."""
        self._events.put(None)
        self._thread.join(2.0)

    def _run(self) -> None:
        with suppress(OSError):  # nobody listens any more
            while event := self._events.get():
                self._out.write(encode(event))
                self._out.flush()
