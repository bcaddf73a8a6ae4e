"""What the engine noticed on the way, in plain words, for the window and the command line."""

from __future__ import annotations

from engine.protocol import Notice
from engine.report import clock

RESTARTED = "engine_restarted"  # said by the window: the engine died and the file went on
RECOVERED = "recovered"  # the same, of a recording

_SENTENCES = {
    "channels_cancel": "The two channels cancel each other out; one of them was taken.",
    "quiet": "The recording is very quiet; it was made louder before listening.",
    "damaged_at": "The file is damaged here; what could be read was transcribed.",
    "gap": "The file has a gap here; it was filled with silence.",
    "late_sound": "The sound starts later than the picture; times count from the start of the picture.",
    "gpu_failed": "The graphics processor failed; the rest was done on the CPU.",
    "coreml_failed": "The Neural Engine failed; what it had still to do was done without it.",
    "cpu_only": "It ran on the CPU.",
    "repeats": "The engine may have repeated itself here.",
    "uncovered": "Someone speaks here, but no text was found.",
    RECOVERED: "The program ended while this was recorded; what the recorder had heard is here.",
    RESTARTED: "The engine was started again and went on here.",
}


def notice_sentence(notice: Notice) -> str:
    """One line, with the stretch of the file that it is about."""
    words = _SENTENCES.get(notice.code, notice.code.replace("_", " ").capitalize() + ".")
    where = _where(notice.start, notice.end)
    return " ".join(part for part in (f"{where}:" if where else "", words, notice.detail) if part)


def _where(start: int | None, end: int | None) -> str:
    if start is None:
        return ""
    return clock(start) if end is None else f"{clock(start)}–{clock(end)}"
