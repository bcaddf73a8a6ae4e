"""An engine for tests: speaks the protocol over its pipe, and does what the name of the file says.

talk-3.wav         three segments of one second, each settled, then done
die-SIGSEGV.wav    one settled segment, one that is not, then the signal; die-exit-1.wav ends by itself
once-….wav         the same, but only when it is asked for the first time; then three segments
garbage, endless, hang, silent, mute, flood-5000, slow, missing, wrong-job, chatter: see below
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from engine.protocol import (
    VERSION,
    Done,
    Event,
    Failed,
    Language,
    Loaded,
    Notice,
    Partial,
    Progress,
    Ready,
    SegmentEvent,
    Started,
    TimingsEvent,
    Transcribe,
    decode_command,
    encode,
)
from engine.types import Phase, Segment, Timings

PIPE = sys.stdout.buffer


def say(*events: Event) -> None:
    PIPE.write(b"".join(map(encode, events)))
    PIPE.flush()


def segment(job: int, number: int) -> SegmentEvent:
    return SegmentEvent(job, Segment(number * 1000, number * 1000 + 900, f" Sentence {number}."))


def settled(job: int, number: int, total: int) -> Progress:
    return Progress(job, "transcribing", number * 1000, total * 1000, (total - number) * 10)


def opening(command: Transcribe, total: int) -> None:
    job = command.job
    say(
        Progress(job, "opening", 0, None, None),
        Started(job, total * 1000, 1, "English", 1),
        Progress(job, "loading", 0, None, None),
        Loaded(job, "base", "fake", "CPU", "fastest here", 120, 5),
        Language(job, "en", 0.98),
    )


def talk(command: Transcribe, total: int, pause: float = 0.0) -> None:
    opening(command, total)
    for number in range(command.resume_at // 1000, total):
        say(Partial(command.job, number * 1000, " Sent"))
        time.sleep(pause)
        say(segment(command.job, number), settled(command.job, number + 1, total))
    say(Notice(command.job, "quiet"), TimingsEvent(command.job, Timings(500, total * 1000, (Phase("encode", 400, 3),))))
    say(Done(command.job, "text", total * 1000, total * 900, -3.5))


def end_badly(command: Transcribe, how: str) -> None:
    job = command.job
    opening(command, 3)
    say(segment(job, 0), settled(job, 1, 3), segment(job, 1))
    sys.stderr.write(f"about to end by {how}\n")
    sys.stderr.flush()
    if how == "exit-1":
        os._exit(1)
    os.kill(os.getpid(), signal.Signals[how])
    time.sleep(60)


def misbehave(command: Transcribe, how: str) -> None:
    job = command.job
    opening(command, 3)
    match how:
        case "garbage":
            say(segment(job, 0), settled(job, 1, 3))
            PIPE.write(b"ggml_print: this is not JSON\n")
            PIPE.flush()
        case "endless":
            PIPE.write(b"x" * 5_000_000)
            PIPE.flush()
        case "hang":
            say(segment(job, 0), settled(job, 1, 3))
        case "chatter":  # lives, but gives no sign of progress
            while True:
                say(TimingsEvent(job, Timings(1, 0)))
                time.sleep(0.02)
    time.sleep(60)


def serve(command: Transcribe) -> None:
    job, name = command.job, Path(os.fsdecode(command.path)).stem
    if name.startswith("once-"):
        mark = Path(os.fsdecode(command.path)).with_suffix(".mark")
        name = "talk-3" if mark.exists() else name.removeprefix("once-")
        mark.touch()
    kind, _, rest = name.partition("-")
    match kind:
        case "talk":
            talk(command, int(rest or 3))
        case "slow":
            talk(command, 600, pause=0.05)
        case "die":
            end_badly(command, rest)
        case "missing":
            say(Failed(job, "not_found", name))
        case "strange":
            say(Failed(job, "a_code_of_a_later_version", name))
        case "silent":
            opening(command, 3)
            say(Done(job, "no_speech", 3000, 0, None))
        case "flood":
            opening(command, int(rest))
            say(*(segment(job, number) for number in range(int(rest))))
            say(settled(job, int(rest), int(rest)), Done(job, "text", int(rest) * 1000, 0, None))
        case "wrong":
            say(segment(job + 1000, 0), Done(job + 1000, "text", 1, 1, None))
            talk(command, 3)
        case _:
            misbehave(command, kind)


def main() -> None:
    if "not-ready" not in sys.argv:
        say(Ready(VERSION, os.getpid()))
    for line in sys.stdin.buffer:
        command = decode_command(line)
        if isinstance(command, Transcribe):
            serve(command)


if __name__ == "__main__":
    main()
