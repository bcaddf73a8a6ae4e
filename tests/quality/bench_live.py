"""`make bench-live`: how long after they are spoken words show, and how long after an utterance its final text comes.

Recordings are played into a virtual microphone, the recorder writes them down, a worker listens. A provisional word
counts from its end in the played file (forced alignment) to the first event that shows it and after which it stays; the
final text from the end of an utterance's last word to the event that settles it. The file counts as playing from the
moment its player is started, so that the player's own delay counts against us.

Without names all English clips of one speaker are played (4 minutes), and docs/bench/live.md tells the figures.
With `--slower 5` the worker gets a fifth of the time it wants: nothing may be lost then, and the lag is printed.
Exits with 1 when a median is above its limit, or with `--slower` when not all sound becomes text.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from forced_alignment import aligned_recording
from live_report import Delays, LiveDelays, in_short, keep
from machine import this_machine
from recordings import Recording, recordings
from through_microphone import Booth
from timed import Timed, words_of

from engine.protocol import Event, Partial, Progress, SegmentEvent
from engine.types import Options

_LIMITS = {"onnx": (1.0, 1.2), "tract": (1.0, 1.2), "whispercpp": (2.5, 3.0)}  # seconds: provisional, final
_CLIP_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What is on the screen after an event: final words and, behind them, provisional ones."""

    at: float  # s after the first sample was spoken
    words: list[str]
    settled: int  # how many of the words are final


def main() -> int:
    """Print the delays of each recording and of all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="onnx", choices=_LIMITS)
    parser.add_argument("--model", default="base")
    parser.add_argument("--language", default="en", help="auto: the first words wait until it is found")
    parser.add_argument("--slower", type=int, default=1, help="how many times too slow the machine is to be")
    parser.add_argument("files", nargs="*", help="English ones of ../shared/audio/speech; all clips of one speaker")
    arguments = parser.parse_args()
    options = Options(model=arguments.model, backend=arguments.backend, language=arguments.language)
    chosen = [recording for recording in recordings() if _is_chosen(recording, arguments.files)]
    pooled, machine = Delays(), this_machine()
    print(f"{arguments.model}, {arguments.backend}{'':<22}words   provisional: median, 9 in 10   final: the same")
    with Booth(options, arguments.slower) as booth:
        for recording in chosen:
            heard = booth.play(recording.path)
            delays = _delays(_screens(heard.events), aligned_recording(recording))
            delays.unheard, delays.behind = heard.unheard, heard.most_behind
            delays.drafts, delays.sound = heard.drafts, recording.seconds
            _print(recording.path.name, delays)
            if arguments.slower > 1:
                print(f"   up to {heard.most_behind / 1000:.1f} s behind; {heard.unheard} ms of sound are no text")
            pooled.add(delays)
    _print("all", pooled)
    limits = _LIMITS[arguments.backend] if arguments.slower == 1 else None
    if not arguments.files:
        slower = f", {arguments.slower} times slower" if arguments.slower > 1 else ""
        keep(f"{arguments.backend}{slower}", LiveDelays(machine, pooled, limits))
    if limits is None:
        return 1 if pooled.unheard > len(chosen) else 0  # times are rounded
    medians = (median(pooled.provisional), median(pooled.final))
    for name, limit, found in zip(("provisional", "final"), limits, medians, strict=True):
        print(f"{name}: median {found:.2f} s of at most {limit} s: {'holds' if found <= limit else 'NO'}")
    return 0 if all(found <= limit for found, limit in zip(medians, limits, strict=True)) else 1


def _is_chosen(recording: Recording, files: Sequence[str]) -> bool:
    if files:
        return recording.path.name in files
    return recording.language == "en" and recording.speakers == 1 and recording.seconds <= _CLIP_SECONDS


def _screens(arrived: Sequence[tuple[float, Event]]) -> list[Shown]:
    screens: list[Shown] = []
    final: list[str] = []
    for at, event in arrived:
        match event:
            case SegmentEvent():
                final += words_of(event.segment.text)
            case Partial():
                screens.append(Shown(at, final + words_of(event.firm + event.text), len(final)))
            case Progress(stage="transcribing"):
                screens.append(Shown(at, list(final), len(final)))
            case _:
                pass
    return screens


def _delays(screens: Sequence[Shown], truth: Sequence[Timed]) -> Delays:
    """The delays of the words that are in the final text and whose place is known."""
    texts = [word.text for word in truth]
    matches = [_matches(texts, screen.words) for screen in screens]
    delays = Delays(found=len(matches[-1]), words=len(truth))
    for place in matches[-1]:
        shown = len(screens)
        while shown and place in matches[shown - 1]:
            shown -= 1
        if truth[place].known:
            delays.provisional.append(screens[shown].at - truth[place].end / 1000)
    before = 0
    for screen in screens:
        settled = [place for place, at in matches[-1].items() if before <= at < screen.settled]
        before = screen.settled
        if settled and truth[max(settled)].known:
            delays.final.append(screen.at - truth[max(settled)].end / 1000)
    return delays


def _matches(truth: list[str], shown: list[str]) -> dict[int, int]:
    """Of each true word that is shown, its place in the truth and its place among what is shown."""
    blocks = difflib.SequenceMatcher(None, truth, shown, autojunk=False).get_matching_blocks()
    return {block.a + i: block.b + i for block in blocks for i in range(block.size)}


def _print(name: str, delays: Delays) -> None:
    found = f"{delays.found:>3}/{delays.words:<3}"
    print(f"{name:<34} {found}  {in_short(delays.provisional):<26}  {in_short(delays.final)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
