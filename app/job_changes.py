"""What events of the engine change in the library's entry of their file."""

from __future__ import annotations

from collections.abc import Iterable

from engine.endings import Death
from engine.errors import SENTENCES, Code
from engine.library import Changes, Entry
from engine.notices import RESTARTED
from engine.protocol import Done, Event, Failed, Language, Loaded, Notice, Started, TimingsEvent


def changes_of(entry: Entry, events: Iterable[Event], has_text: bool) -> Changes:
    """All changes together; `has_text` says whether segments are stored, perhaps of an earlier run."""
    changes: Changes = {}
    for event in events:
        match event:
            case Started():
                changes |= {"duration": event.duration, "track_name": event.track_name}
            case Loaded():
                changes |= {"model": event.model, "backend": event.backend, "device": event.device}
                changes |= {"reason": event.reason, "load_ms": event.load_ms}
            case Language():
                changes |= _language(entry, event)
            case TimingsEvent():
                changes["timings"] = event.timings
            case Notice():
                known = changes.get("notices", entry.notices)
                if event not in known:  # a run that goes on notices things again
                    changes["notices"] = (*known, event)
            case Done():
                changes |= {"state": "done", "outcome": "text" if has_text else event.outcome}
                changes |= {"duration": event.duration, "speech": event.speech, "peak_dbfs": event.peak_dbfs}
            case Failed():
                changes |= failure(event)
            case _:
                pass
    return changes


def failure(event: Failed) -> Changes:
    """An end without a result; the code of a later version counts as INTERNAL."""
    try:
        return {"state": "failed", "error": Code(event.code), "error_detail": event.detail}
    except ValueError:
        return {"state": "failed", "error": Code.INTERNAL, "error_detail": f"{event.code}: {event.detail}"}


def restarted(entry: Entry, death: Death) -> Notice:
    """What a file keeps of a death that it survived."""
    detail = f"{SENTENCES[death.code]} {death.detail.partition(chr(10))[0]}"
    return Notice(entry.id, RESTARTED, detail, entry.settled, None)


def _language(entry: Entry, event: Language) -> Changes:
    if event.probability is None and event.code == entry.language:
        return {}  # found by an earlier run, which knew how sure it was
    return {"language": event.code, "language_probability": event.probability}
