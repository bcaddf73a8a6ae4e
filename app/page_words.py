"""What the page says of a job that has no text to show, and the line above a text that is not whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from app.job_words import built_share, can_go_on, was_recovered
from app.jobs import Live
from app.messages import describe_failure
from app.wording import clock
from engine.errors import Code
from engine.library import Entry
from engine.recording import is_recording


class Way(Enum):
    """A way out that a state offers; the page knows which button that is."""

    CANCEL = auto()
    GO_ON = auto()
    RETRY = auto()
    TRANSCRIBE = auto()  # what was recorded without a transcript
    OTHER_MODEL = auto()
    GET_MODELS = auto()


@dataclass(frozen=True, slots=True)
class Says:
    """One state: what is, what to do, and the buttons for it."""

    icon: str
    what: str
    todo: str = ""
    detail: str = ""  # for people who want to know more
    ways: tuple[Way, ...] = ()
    busy: bool = False


_STAGES = {
    "opening": "Opening the file…",
    "building": "Preparing the model…",
    "loading": "Loading the model…",
    "listening": "Listening for speech…",
    "transcribing": "Transcribing…",
}
_MODEL_CODES = frozenset({Code.MODEL_MISSING, Code.MODEL_UNKNOWN, Code.MODEL_DAMAGED, Code.MODEL_CHANGED})
_FILE_CODES = frozenset({
    Code.NOT_FOUND, Code.IS_FOLDER, Code.NOT_READABLE, Code.EMPTY_FILE, Code.NOT_MEDIA, Code.NO_AUDIO, Code.DAMAGED,
})  # fmt: skip
_VERY_QUIET_DBFS = -40.0


def page_says(entry: Entry, live: Live | None, held: str = "") -> Says:
    """What stands in the middle of the page as long as there is no text."""
    match entry.state:
        case "waiting":
            todo = f"Waiting: {held}" if held else "It starts by itself when the files before it are through."
            return Says("waiting", "Waiting", todo, ways=(Way.CANCEL,))
        case "running":
            what = _STAGES[live.stage] if live else "Starting…"
            share = built_share(live)
            found = "as it is said" if live and live.follows else "as it is found"
            todo = f"{share}; next time it starts at once." if share else f"The text appears here {found}."
            ways = () if live and live.follows else (Way.CANCEL,)  # a recording has Stop
            return Says("running", what, todo, ways=ways, busy=True)
        case "done":
            return Says("silence", "No speech was found.", _loudness(entry), ways=(Way.OTHER_MODEL,))
        case "failed":
            return _failed(entry)
        case "cancelled" | "interrupted":
            return _stopped(entry)


def bar_says(entry: Entry) -> Says | None:
    """What stands above a text that is not whole; None for one that is."""
    match entry.state:
        case "failed":
            return _failed(entry)
        case "cancelled" | "interrupted":
            return _stopped(entry)
        case "waiting" if entry.settled:
            return Says("waiting", f"Waiting to go on from {clock(entry.settled)}.", ways=(Way.CANCEL,))
        case _:
            return None


def _failed(entry: Entry) -> Says:
    message = describe_failure(entry)
    first = (Way.GO_ON, Way.RETRY) if can_go_on(entry) else (Way.RETRY,)
    last = (Way.GET_MODELS, Way.OTHER_MODEL) if entry.error in _MODEL_CODES else (Way.OTHER_MODEL,)
    ways = first if entry.error in _FILE_CODES else (*first, *last)  # another model would not help a missing file
    return Says("warning", message.what, message.todo, message.detail.partition("\n")[0].strip(), ways)


def _stopped(entry: Entry) -> Says:
    if not entry.settled and is_recording(entry.source):
        long = f"{clock(entry.duration)} of sound" if entry.duration else "Its sound"
        what = "This recording was recovered." if was_recovered(entry) else "This recording has no text yet."
        return Says("interrupted", what, f"{long} is here.", ways=(Way.TRANSCRIBE,))
    what = "It was cancelled" if entry.state == "cancelled" else "It was cut off"
    where = f" at {clock(entry.settled)}." if entry.settled else "."
    return Says(entry.state, what + where, ways=(Way.GO_ON, Way.RETRY) if entry.settled else (Way.RETRY,))


def _loudness(entry: Entry) -> str:
    """How loud it is and how much of it sounds like speech."""
    if entry.peak_dbfs is None:
        return "The recording is silent throughout."
    quiet = ", which is very quiet" if entry.peak_dbfs < _VERY_QUIET_DBFS else ""
    loudest = f"The loudest sound is {entry.peak_dbfs:.0f} dBFS{quiet}.".replace("-", "−")
    if not entry.speech:
        return f"{loudest} Nothing in it sounds like a voice."
    return f"{loudest} {clock(entry.speech)} of it may be a voice, but no words were recognised."
