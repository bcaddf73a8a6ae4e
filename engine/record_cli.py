"""`sottovoce record` and `sottovoce devices`: a microphone from a terminal."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from engine import recorder_protocol as recorder
from engine.errors import Code, EngineError
from engine.files import atomic_file
from engine.inner_cli import add_microphone
from engine.program import engine_command
from engine.record_words import RecordWords
from engine.recording import read_facts, recover
from engine.terminal import named, say, show_progress, to_stdout
from engine.transcribe_options import add_live_options, live_options
from engine.verbs import Verbs

if TYPE_CHECKING:
    from engine.audio.packets import Device

_LAST_LINES = 3


def add_parsers(verbs: Verbs) -> None:
    """Describe the verbs and their options."""
    record = verbs.add_parser("record", help="record a microphone until Ctrl-C")
    add_microphone(record)
    record.add_argument(
        "--output", type=Path, metavar="FILE.wav", help="where it goes; else it is kept with the others"
    )
    record.add_argument("--seconds", type=_seconds, metavar="N", help="stop by itself after so many seconds")
    record.add_argument("--live", action="store_true", help="print the words while they are said")
    add_live_options(record)
    record.set_defaults(run=run_record)
    devices = verbs.add_parser("devices", help="list the microphones")
    devices.add_argument("--json", action="store_true", help="one JSON object a line")
    devices.set_defaults(run=run_devices)


def run_devices(arguments: argparse.Namespace, _data: Path) -> int:
    """Print a line a microphone, the default one first; 1 when there is none. EngineError as of `microphones`."""
    import msgspec  # noqa: PLC0415

    from engine.audio.microphone_process import microphones  # noqa: PLC0415

    found = microphones()
    for device in found:
        to_stdout(msgspec.json.encode(device) + b"\n" if arguments.json else f"{_line(device)}\n".encode())
    if not found:
        say("there is no microphone")
    return 0 if found else 1


def run_record(arguments: argparse.Namespace, data: Path) -> int:
    """Record and say where it went. EngineError when nothing could be recorded or it cannot be put there."""
    output: Path | None = arguments.output
    if output is not None:
        _refuse_place(output)
    words = RecordWords(data, live_options(arguments)) if arguments.live else None
    with tempfile.TemporaryFile() as stderr:
        process = _started(arguments, data, stderr)
        session = _Session(process, arguments.seconds, words)
        session.follow()
        if not session.is_whole:
            session.failed = session.failed or EngineError(Code.RECORDER_DIED, _last_lines(stderr))
    if session.folder is not None:
        with suppress(EngineError):
            recover(session.folder)  # only what was cut off
        if words:
            words.finish()
        _conclude(session.folder, output)
    if failed := session.failed or (words and words.failed):
        raise failed
    return 0


class _Session:
    """The recorder's events, shown as they come."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float | None, words: RecordWords | None) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout, self._process = process.stdin, process.stdout, process
        self._seconds, self._words = seconds, words
        self._device = ""
        self.folder: Path | None = None
        self.failed: EngineError | None = None
        self.is_whole = False  # the recorder said its last word

    def follow(self) -> None:
        """Until the recorder has ended; Ctrl-C stops it, whatever this process is doing just then."""
        before = signal.signal(signal.SIGINT, lambda _number, _frame: self._stop())
        try:
            for line in self._stdout:
                event = recorder.decode_event(line)
                if isinstance(event, recorder.Level) and self._seconds is not None and event.at >= self._seconds * 1000:
                    self._seconds = None
                    self._stop()
                self._show(event)
            code = self._process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
        self.is_whole = self.is_whole or code == 0 or self.failed is not None
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()

    def _stop(self) -> None:
        with suppress(BrokenPipeError):  # unbuffered: a buffer may not be written to while it is being written to
            os.write(self._stdin.fileno(), recorder.encode(recorder.Stop()))

    def _show(self, event: recorder.Event) -> None:
        match event:
            case recorder.Level():
                self._show_level(event)
            case recorder.Opened():
                self._device, self.folder = event.device, Path(os.fsdecode(event.folder))
                if self._words:
                    self._words.begin(self.folder)
                say(f"{_clock(event.at)}  recording “{event.device}”, {event.rate} Hz; Ctrl-C stops")
            case recorder.Lost():
                say(f"{_clock(event.at)}  the microphone is gone ({event.detail}); waiting for another one")
            case recorder.Gap():
                say(f"{_clock(event.start)}  nothing was heard for {(event.end - event.start) / 1000:.1f} s")
            case recorder.Overflow():
                say(f"{_clock(event.at)}  the system lost some sound ({event.count} ×)")
            case recorder.Silent():
                say(f"{_clock(event.at)}  the microphone is silent: may this program use it?")
            case recorder.Stopped():
                self.is_whole = True
            case recorder.Failed():
                self.failed = EngineError(Code(event.code), event.detail)

    def _show_level(self, level: recorder.Level) -> None:
        speech = "  speech" if level.hears_speech else ""
        if self._words and self._words.partial:
            show_progress(self._words.partial, f"  {_clock(level.at)}{speech}")
            return
        left = f"{level.free_minutes // 60} h" if level.free_minutes >= 600 else f"{level.free_minutes} min"
        behind = f"  {self._words.behind // 1000} s behind" if self._words and self._words.behind else ""
        show_progress(self._device, f"{_clock(level.at)}  {level.rms:.0f} dB{speech}{behind}  room for {left}")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError("must be more than 0")
    return seconds


def _started(arguments: argparse.Namespace, data: Path, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    command = engine_command("recorder")
    command += [f"--device={arguments.device}"] if arguments.device else []
    command += [f"--channel={arguments.channel}"] if arguments.channel else []
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=data,
        env={**os.environ, "SOTTOVOCE_DATA": str(data)},
        start_new_session=True,  # Ctrl-C is for this process, which passes it on as Stop
    )


def _refuse_place(output: Path) -> None:
    """Look before anything is recorded. EngineError ALREADY_THERE or NOT_WRITABLE."""
    if os.path.lexists(output):
        raise EngineError(Code.ALREADY_THERE, named(output))
    if not os.access(output.absolute().parent, os.W_OK):
        missing = errno.EACCES if output.absolute().parent.is_dir() else errno.ENOENT
        raise EngineError(Code.NOT_WRITABLE, f"{named(output)}: {os.strerror(missing)}")


def _conclude(folder: Path, output: Path | None) -> None:
    """Say where it is; with `output` move it there, further parts beside it as FILE-2.wav."""
    files = [folder / part.file for part in read_facts(folder).parts]
    if output is not None:
        targets = [output.with_stem(output.stem + file.stem.removeprefix("audio")) for file in files]
        try:
            for file, target in zip(files, targets, strict=True):
                with atomic_file(target) as copy, file.open("rb") as original:
                    shutil.copyfileobj(original, copy, 1 << 20)
        except EngineError:
            say(f"the recording is kept in {named(folder)}")
            raise
        shutil.rmtree(folder)
        files = targets
    for file in files:
        say(f"wrote {named(file)}")


def _line(device: Device) -> str:
    channels = "1 channel" if device.channels == 1 else f"{device.channels} channels"
    return f"{device.name}{' (default)' if device.is_default else ''}: {channels}, {device.rate} Hz"


def _clock(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _last_lines(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    return "\n".join(stderr.read().decode("utf-8", "replace").splitlines()[-_LAST_LINES:])
