"""Writes one recording: its parts, their times, and recording.json."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.wav import WavWriter
from engine.recording import Gap, Part, RecordingFacts, Why, living, new_folder, part_name, write_facts

if TYPE_CHECKING:
    from engine.audio.wav import Pcm

PART_BYTES = 0xFFFF_FFFF - (1 << 20)  # many programs read no WAV file of 4 GB or more
_HEADER_EVERY = 0.5  # seconds
_SYNC_EVERY = 1.0
_LOOK_AT_DISK_EVERY = 5.0


class RecordingWriter:
    """The only writer of a recording; from the first call on it is on the disk. EngineError as of WavWriter."""

    def __init__(self, data: Path, device: str, rate: int, channels: int, part_bytes: int = PART_BYTES) -> None:
        self.folder = new_folder(data)
        self._part_bytes = part_bytes
        self._facts = RecordingFacts(self.folder.name, time.time_ns() // 1_000_000, device)
        self._changed = False
        self._held = ExitStack()
        self._held.enter_context(living(self.folder))
        self._disk = ThreadPoolExecutor(1, "sync")  # a disk that is slow to sync does not delay what is written
        self._syncing: Future[None] | None = None
        self._header_at = self._sync_at = time.monotonic()
        self._wav = self._new_part(rate, channels, 0)

    @property
    def now(self) -> int:
        """How long the recording is, in ms."""
        return self._facts.parts[-1].start + self._wav.frames * 1000 // self._wav.rate

    @property
    def bytes_a_second(self) -> int:
        """What the sound takes on the disk."""
        return self._wav.rate * self._wav.channels * 2

    @property
    def channels(self) -> int:
        """Of the part that is being written."""
        return self._wav.channels

    def append(self, samples: Pcm) -> None:
        """Write frames of int16, shape (frames, channels), into this part or, when it is full, into a new one."""
        if self._wav.bytes + samples.nbytes > self._part_bytes:
            start, full = self.now, self._wav
            self._wav = self._new_part(full.rate, full.channels, start, after=full)
        self._wav.append(samples)

    def go_on(self, device: str, rate: int, channels: int, missing: int, why: Why) -> Gap:
        """Go on with a microphone that was opened anew, after `missing` ms in which nothing was heard."""
        gap = Gap(self.now, self.now + missing, why)
        silence = missing * rate // 1000
        fits = self._wav.bytes + silence * channels * 2 <= self._part_bytes
        self._facts = replace(self._facts, device=device)
        if fits and (rate, channels) == (self._wav.rate, self._wav.channels):
            self._wav.append_silence(silence)
        else:
            self._wav = self._new_part(rate, channels, gap.end, after=self._wav)
        self.mark(gap)
        self._write_facts()
        return gap

    def mark(self, gap: Gap) -> None:
        """Note a gap; it is in recording.json within a second."""
        self._facts = replace(self._facts, gaps=(*self._facts.gaps, gap))
        self._changed = True

    def keep_up(self) -> None:
        """Header and disk, when it is time for them. To be called at least every 100 ms."""
        now = time.monotonic()
        if now - self._header_at >= _HEADER_EVERY:
            self._header_at = now
            self._wav.refresh_header()
        if now - self._sync_at >= _SYNC_EVERY and (self._syncing is None or self._syncing.done()):
            self._finish_sync()
            self._sync_at = now
            self._syncing = self._disk.submit(self._wav.sync)
            if self._changed:
                self._write_facts()

    def close(self) -> None:
        """End the recording; all of it is on the disk then. After an EngineError it is as one that was cut off."""
        try:
            self._close_part(self._wav)
            self._facts = replace(self._facts, state="stopped")
            self._write_facts()
        finally:
            self._disk.shutdown()
            self._held.close()

    def _new_part(self, rate: int, channels: int, start: int, after: WavWriter | None = None) -> WavWriter:
        """The file first, then the facts that name it: what recording.json names is always there."""
        if after is not None:
            self._close_part(after)
        name = part_name(len(self._facts.parts) + 1)
        wav = WavWriter(self.folder / name, rate, channels)
        self._facts = replace(self._facts, parts=(*self._facts.parts, Part(name, rate, channels, start)))
        self._write_facts()
        return wav

    def _close_part(self, wav: WavWriter) -> None:
        try:
            self._finish_sync()
        finally:
            wav.close()

    def _finish_sync(self) -> None:
        syncing, self._syncing = self._syncing, None
        if syncing is not None:
            syncing.result()

    def _write_facts(self) -> None:
        write_facts(self.folder, self._facts)
        self._changed = False


class FreeMinutes:
    """How long the disk will hold, looked at every few seconds."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._bytes = 0

    def of(self, writer: RecordingWriter) -> int:
        """For a recording as this one goes on."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_AT_DISK_EVERY:
            self._looked_at = now
            with suppress(OSError):
                self._bytes = shutil.disk_usage(writer.folder).free
        return self._bytes // (writer.bytes_a_second * 60)
