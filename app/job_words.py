"""What the list says of a job: its state in words, and beside it a time or a share."""

from __future__ import annotations

from dataclasses import dataclass

from app.jobs import Live
from app.wording import clock, time_left
from engine.errors import SENTENCES
from engine.languages import language_name
from engine.library import Entry
from engine.notices import RECOVERED
from engine.recording import is_recording

_STAGES = {
    "opening": "Opening…",
    "building": "Preparing the model…",
    "loading": "Loading the model…",
    "listening": "Listening for speech…",
    "transcribing": "Transcribing…",
}


@dataclass(frozen=True, slots=True)
class RowWords:
    """One row: an icon, the state in words, what stands at the right of it, and how far it is (0 … 1)."""

    icon: str
    state: str
    right: str = ""
    share: float | None = None


def row_words(entry: Entry, live: Live | None, held: str = "") -> RowWords:
    """Words for a row; `held` is what the job waits for, other than those before it."""
    match entry.state:
        case "running":
            return _running(entry, live, held)
        case "waiting":
            return RowWords("waiting", f"Waiting: {held}" if held else "Waiting")
        case "failed":
            return RowWords("warning", SENTENCES[entry.error] if entry.error else "Failed.")
        case "cancelled":
            return RowWords("cancelled", _until("Cancelled", entry))
        case "interrupted":
            return RowWords("interrupted", _interrupted(entry))
        case "done":
            return _done(entry)


def share_of(entry: Entry, live: Live | None) -> float | None:
    """How much of a running file is behind us; None when nobody knows yet."""
    total = (live and live.total) or entry.duration
    if live is None or live.follows or live.stage != "transcribing" or not total:
        return None
    return min(1.0, live.done / total)


def built_share(live: Live | None) -> str:
    """How much of a model is prepared, in words; "" when nothing is being prepared."""
    if live is None or live.stage != "building" or not live.total:
        return ""
    return _percent(min(1.0, live.done / live.total))


def spoken(entry: Entry, words: RowWords) -> str:
    """The row for a screen reader."""
    length = f"{clock(entry.duration)} long" if entry.duration else ""
    return ", ".join(part for part in (entry.title, words.state, words.right, length) if part)


def _running(entry: Entry, live: Live | None, held: str) -> RowWords:
    share = share_of(entry, live)
    if held:
        return RowWords("waiting", f"Waiting: {held}", _percent(share) if share else "", share)
    if live and live.follows:
        return RowWords("record", "Recording…", clock(live.total) if live.total else "")
    if live is None or share is None:
        return RowWords("running", _STAGES[live.stage] if live else "Starting…", built_share(live))
    return RowWords("running", _percent(share), time_left(live.left) if live.left else "", share)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _done(entry: Entry) -> RowWords:
    if entry.outcome == "no_speech":
        return RowWords("silence", "No speech found")
    return RowWords("done", f"Done · {language_name(entry.language)}" if entry.language else "Done")


def _interrupted(entry: Entry) -> str:
    if was_recovered(entry):
        return f"Recovered: text until {clock(entry.settled)}" if entry.settled else "Recovered: no text yet"
    if entry.settled or not is_recording(entry.source):
        return _until("Cut off", entry)
    return "No text yet"


def _until(what: str, entry: Entry) -> str:
    return f"{what} at {clock(entry.settled)}" if entry.settled else what


def was_recovered(entry: Entry) -> bool:
    """Whether it is a recording that a crash cut off."""
    return any(notice.code == RECOVERED for notice in entry.notices)


def can_cancel(entry: Entry) -> bool:
    """Whether a job waits or runs."""
    return entry.state in {"waiting", "running"}


def can_go_on(entry: Entry) -> bool:
    """Whether a job was cut off in its middle, so that going on is not the same as starting again."""
    return entry.state in {"cancelled", "interrupted"} or (entry.state == "failed" and entry.settled > 0)


def can_retry(entry: Entry) -> bool:
    """Whether starting again takes no finished text away."""
    return entry.state in {"failed", "cancelled", "interrupted"} or entry.outcome == "no_speech"
