"""What happened and what to do about it, in plain words, for every error of the engine."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

from engine.errors import SENTENCES, Code
from engine.files import shown
from engine.library import Entry

REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()  # what Qt puts in place of bytes that are no text


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence each; `detail` is for people who want to know more, and may have several lines."""

    what: str
    todo: str
    detail: str = ""


_OTHER_FILE = "Check whether it plays elsewhere; if it does, please report it with a copy of the file."
_AGAIN = "Try again. If it happens again, the details say more; please report them."
_OTHER_MODEL = "Choose another model in the toolbar and transcribe the file again."
_INSTALL = "The installation may be incomplete: “sottovoce selftest” says what is missing."
_REMOVE_AND_GET = "Remove it under “More models…” in the toolbar, and download or import it again."

_ADVICE: dict[Code, str] = {
    Code.NOT_FOUND: "If it is on a drive that was unplugged, plug it in and retry. If it was moved, drop it again.",
    Code.IS_FOLDER: "Drop the folder on the window: the recordings in it are added.",
    Code.NOT_READABLE: "Give yourself the right to read it, or copy it to a folder of your own.",
    Code.EMPTY_FILE: "The copy or the recording may have been cut short; look for another one.",
    Code.NOT_MEDIA: "Drop a sound or video file, of whatever kind.",
    Code.NO_AUDIO: "Choose the file that has the sound, if picture and sound were kept apart.",
    Code.NO_DECODER: "Save it in another form with a program that plays it, e.g. as WAV or MP3, and drop that.",
    Code.NO_SUCH_TRACK: "The file may have changed: drop it on the window again, which takes its usual track.",
    Code.DAMAGED: _OTHER_FILE,
    Code.MODEL_MISSING: "Choose another model in the toolbar, or get this one there: “More models…”.",
    Code.MODEL_UNKNOWN: _OTHER_MODEL,
    Code.MODEL_DAMAGED: _REMOVE_AND_GET,
    Code.MODEL_CHANGED: _REMOVE_AND_GET,
    Code.MODEL_CANNOT: "Choose another model, language or task in the toolbar and transcribe the file again.",
    Code.MODEL_BUSY: "Wait until the other one is through, then retry.",
    Code.IMPORT_FAILED: "Choose a Whisper model as a ggml file or as a faster-whisper folder.",
    Code.DOWNLOAD_FAILED: "Check the connection and start it again: it goes on where it was.",
    Code.DOWNLOAD_WRONG: "Start the download again, later or from another network.",
    Code.CPU_TOO_OLD: "Use another computer: most that were built since 2013 have what it needs (AVX2).",
    Code.BACKEND_MISSING: _INSTALL,
    Code.BACKEND_FAILED: _AGAIN,
    Code.OUT_OF_MEMORY: "Close other programs, or choose a smaller model in the toolbar.",
    Code.ENGINE_DIED: "Retry, or transcribe the file again with another model. The details say how it ended.",
    Code.ENGINE_HUNG: "Retry, perhaps when the computer is less busy, or choose a smaller model.",
    Code.ENGINE_GARBLED: _AGAIN,
    Code.ENGINE_NOT_STARTED: _INSTALL,
    Code.BAD_COMMAND: "Close all windows of Sottovoce and start it again: parts of two versions may be running.",
    Code.INTERNAL: _AGAIN,
    Code.NO_MICROPHONE: "Plug one in, or choose another one, and record again.",
    Code.NO_SOUND_SYSTEM: "Install PortAudio; on Debian and its kin the package is libportaudio2.",
    Code.SOUND_SYSTEM_BROKEN: "Check the system's sound settings, on Linux ALSA's configuration, and record again.",
    Code.MICROPHONE_REFUSED: "Allow Sottovoce the microphone in the system's settings, or close what else uses it.",
    Code.RECORDER_DIED: "Start another recording; this one is in the list.",
    Code.DISK_FULL: "Make room on the disk and go on; what was transcribed so far is kept.",
    Code.NOT_WRITABLE: "Choose another folder, or give yourself the right to write there.",
    Code.ALREADY_THERE: "Choose another name, or agree to replace it.",
    Code.IS_SOURCE: "Choose another name: a recording is never replaced.",
    Code.NOT_A_TRANSCRIPT: "Choose a JSON file that Sottovoce exported, or subtitles as SRT or WebVTT.",
    Code.SEVERAL: "Ask for one of them by its number: “sottovoce export” lists them.",
    Code.CANNOT_MUX: "Write an .mkv file, which takes most kinds of streams, or save the subtitles beside the film.",
    Code.LIBRARY_DAMAGED: "Move the file away to begin with an empty library; a backup of it may still be whole.",
    Code.LIBRARY_NEWER: "Update Sottovoce, or start it with another folder: “sottovoce --data-dir FOLDER”.",
}


def message(code: Code, detail: str = "") -> Message:
    """What an error means and what to do about it."""
    return Message(SENTENCES[code], _ADVICE[code], detail)


def describe_failure(entry: Entry) -> Message:
    """Why a job failed; the `error` of a failed entry is set."""
    code = entry.error or Code.INTERNAL
    if code is Code.NOT_FOUND and REPLACEMENT in entry.source:
        return _unseen(entry)
    return message(code, entry.error_detail)


def _unseen(entry: Entry) -> Message:
    """A name that is no UTF-8 does not survive Qt: the window asks for a file that is not there."""
    folder = shlex.quote(shown(os.path.dirname(entry.source)))  # noqa: PTH120 (bytes)
    return Message(
        "The window cannot open this file, because its name is not valid text.",
        f"Rename it, or transcribe it in a terminal, where such names work: cd {folder}; sottovoce transcribe FILE",
        shown(entry.source),
    )
