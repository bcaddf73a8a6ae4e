"""Which backend is the fastest here: each transcribes a known text in a process of its own, and that is remembered.

A verdict is about one model file on one machine with one version of everything; in other circumstances it is made anew.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

from engine.backends.cpu import machine, threads_for
from engine.backends.reference import LENGTH_MS, reference_recording, reference_words, words_wrong
from engine.child import EngineProcess
from engine.errors import SENTENCES, Code, EngineError
from engine.files import atomic_write
from engine.folders import state_folder
from engine.hang_rule import TimeLimit
from engine.protocol import Done, Failed, Loaded, Progress, SegmentEvent, Transcribe
from engine.types import Device, Options, Precision

LIMIT_MS = 10_000  # for transcribing, of all candidates together; starting, building graphs and loading are not counted
_MOST_WRONG = 0.2  # of the words
_TO_LOSE_MS = 3_000  # once one has passed, the others have so long, or as long as it took: who takes longer has lost
_SHORT_MS = 1_000  # a run shorter than this is done twice, since the first one of a model is a little slower
_RUNS: dict[Device, int] = {"cpu": 2, "gpu": 3, "neural": 3}  # what a GPU does at first says even less
_KEPT = 50  # verdicts
_PASSING = {Code.DISK_FULL, Code.NOT_WRITABLE, Code.OUT_OF_MEMORY}  # troubles that may be over the next time
_NAMES = {"whispercpp": "whisper.cpp"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to run a model."""

    backend: str
    device: Device = "cpu"

    def __str__(self) -> str:
        name = _NAMES.get(self.backend, self.backend)
        if self.device == "neural":
            return "Core ML" if self.backend == "coreml" else f"{name} with Core ML"
        return f"{name} on the GPU" if self.device == "gpu" else name


@dataclass(frozen=True, slots=True)
class Finding:
    """What a candidate did: the ms for the reference and how many words were wrong, if it came to the end."""

    candidate: Candidate
    ms: int | None = None
    wrong: int = 0
    trouble: str = ""  # why it is out
    code: Code | None = None  # of a failure

    @property
    def speed(self) -> float:
        """Times real time; 0 when it did not come to the end."""
        return LENGTH_MS / max(1, self.ms) if self.ms is not None else 0.0


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a verdict is about."""

    machine: str
    versions: str
    model: str
    precision: Precision
    threads: int
    candidates: tuple[Candidate, ...]
    encoder: str = ""  # of Core ML, and the system it is ready in


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, in the order of the candidates."""

    about: Circumstances
    findings: tuple[Finding, ...]

    @property
    def best(self) -> Finding | None:
        """The fastest of those that got the words right."""
        return max((f for f in self.findings if not f.trouble), key=lambda f: f.speed, default=None)

    @property
    def lowest_power(self) -> Finding | None:
        """The fastest on the Neural Engine, which takes the least power, of those that got the words right."""
        neural = (f for f in self.findings if not f.trouble and f.candidate.device == "neural")
        return max(neural, key=lambda f: f.speed, default=None)

    @property
    def lasting(self) -> bool:
        """Whether the next time would bring the same: no full disk, and not all of them dead or out of time."""
        if any(finding.code in _PASSING for finding in self.findings):
            return False
        return self.best is not None or all(finding.ms is not None for finding in self.findings)

    def __str__(self) -> str:
        """Why the best is the best, for people; or that there is none."""
        passed = sorted((f for f in self.findings if not f.trouble), key=lambda f: -f.speed)
        out = [f"{f.candidate}: {f.trouble}" for f in self.findings if f.trouble]
        if not passed:
            return "; ".join(["nothing passed the self-check", *out])
        first, *others = (f"{f.candidate} {spelt(f.speed)} ×" for f in passed)
        return "; ".join([f"the fastest here: {', '.join([f'{first} real time', *others])}", *out])


def verdict_on(
    candidates: Sequence[Candidate],
    options: Options,
    model: Path,
    data: Path,
    on_part: Callable[[int, int], None],
    encoder: str = "",
) -> Verdict:
    """The remembered verdict on `model`, or that of a check now; `on_part(done, of)` is told how far that is."""
    about, state = circumstances(candidates, options, model, encoder), state_folder(data)
    known = remembered(state, about)
    if known is not None:
        return known
    verdict = Verdict(about, _check(candidates, options, model, data, on_part))
    if verdict.lasting:
        _remember(state, verdict)
    return verdict


def circumstances(candidates: Sequence[Candidate], options: Options, model: Path, encoder: str = "") -> Circumstances:
    """Everything that the outcome of a check depends on."""
    status = model.stat()
    return Circumstances(
        machine(),
        ", ".join(f"{name} {version(name)}" for name in ("sottovoce", "onnxruntime", "pywhispercpp")),
        f"{model.name} {status.st_size} {status.st_mtime_ns}",
        options.precision,
        threads_for(options.threads),
        tuple(candidates),
        encoder if any(candidate.device == "neural" for candidate in candidates) else "",
    )


def remembered(state: Path, about: Circumstances) -> Verdict | None:
    """The verdict in just these circumstances; None when there is none, or none that can be read."""
    return next((verdict for verdict in _verdicts(state) if verdict.about == about), None)


def forget(state: Path) -> None:
    """Check again at the next start."""
    _file(state).unlink(missing_ok=True)


def spelt(speed: float) -> str:
    """38, 9.1."""
    return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"


def _check(
    candidates: Sequence[Candidate], options: Options, model: Path, data: Path, on_part: Callable[[int, int], None]
) -> tuple[Finding, ...]:
    """One after the other, since together they would slow each other down."""
    findings, left, to_lose = list[Finding](), LIMIT_MS, LIMIT_MS
    for number, candidate in enumerate(candidates):

        def tell(done: int, of: int, before: int = number * 100) -> None:
            on_part(before + 99 * done // max(1, of), 100 * len(candidates))

        tell(0, 1)
        finding, took = _tried(candidate, options, model, data, min(left, to_lose), tell)
        findings.append(finding)
        left -= took
        if finding.ms is not None and not finding.trouble:
            to_lose = min(to_lose, max(_TO_LOSE_MS, finding.ms))
    return tuple(findings)


def _tried(
    candidate: Candidate, options: Options, model: Path, data: Path, limit: int, tell: Callable[[int, int], None]
) -> tuple[Finding, int]:
    """What comes of a candidate within `limit` ms, and how many of them it took."""
    if limit <= 0:
        return Finding(candidate, trouble="no time was left to try it"), 0
    asked = Options(
        model=str(model),
        backend=candidate.backend,
        device=candidate.device,
        precision=options.precision,
        threads=options.threads,
        language="en",
        words=True,
        vad=False,
    )
    try:
        command = Transcribe(1, os.fsencode(reference_recording()), asked)
    except FileNotFoundError as error:
        return Finding(candidate, trouble=f"there is no recording to try it with: {error}"), 0
    with closing(EngineProcess(data)) as engine:
        best, took = _run(engine, candidate, command, limit, tell)
        for number in range(1, _RUNS[candidate.device]):
            if best.trouble or took >= min(number * _SHORT_MS, limit * number // (number + 1)):
                break
            again, took_again = _run(engine, candidate, command, limit - took, tell)
            best, took = again if again.trouble or again.speed > best.speed else best, took + took_again
        return best, took


def _run(
    engine: EngineProcess, candidate: Candidate, command: Transcribe, limit: int, tell: Callable[[int, int], None]
) -> tuple[Finding, int]:
    """Transcribe the reference once: what came of it, and the ms from the loaded model to the end."""
    began, heard = None, list[str]()
    for event in engine.events(command, TimeLimit(limit)):
        match event:
            case Progress(stage="loading", total=int(total)):
                tell(event.done, total)
            case Loaded():
                began = time.monotonic()
            case SegmentEvent():
                heard.append(event.segment.text)
            case Failed():
                return _failed(candidate, event, None if began is None else limit), _since(began)
            case Done():
                return _judged(candidate, _since(began), " ".join(heard)), _since(began)
            case _:
                pass
    return Finding(candidate, trouble="it said nothing"), _since(began)


def _since(began: float | None) -> int:
    return 0 if began is None else round((time.monotonic() - began) * 1000)


def _failed(candidate: Candidate, failed: Failed, limit: int | None) -> Finding:
    """A death or a refusal, or the limit that held for it once it was loaded."""
    code = Code(failed.code)
    if code is Code.ENGINE_HUNG and limit is not None:
        return Finding(candidate, trouble=f"slower than {spelt(LENGTH_MS / limit)} × real time", code=code)
    return Finding(candidate, trouble=f"{SENTENCES[code]} {failed.detail.partition(chr(10))[0]}".strip(), code=code)


def _judged(candidate: Candidate, ms: int, heard: str) -> Finding:
    wrong, words = words_wrong(heard), len(reference_words())
    trouble = f"{wrong} of {words} words wrong" if wrong > _MOST_WRONG * words else ""
    return Finding(candidate, ms, wrong, trouble)


def _verdicts(state: Path) -> list[Verdict]:
    try:
        return msgspec.json.decode(_file(state).read_bytes(), type=list[Verdict])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return []


def _remember(state: Path, verdict: Verdict) -> None:
    """Where it cannot be written, the check is made again each time."""
    kept = [verdict, *(old for old in _verdicts(state) if old.about != verdict.about)][:_KEPT]
    with suppress(EngineError):
        atomic_write(_file(state), msgspec.json.encode(kept), overwrite=True)


def _file(state: Path) -> Path:
    return state / "selfcheck.json"
