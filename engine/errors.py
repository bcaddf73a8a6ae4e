"""Everything that can go wrong, as codes with one plain sentence each.

    EngineError(code, detail)      the only exception that leaves the engine on purpose

The window adds what to do about it (app/messages.py); the command line prints the sentence and the detail.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """What happened; stable names, also in events and in the library."""

    # the file
    NOT_FOUND = "not_found"
    IS_FOLDER = "is_folder"
    NOT_READABLE = "not_readable"
    EMPTY_FILE = "empty_file"
    NOT_MEDIA = "not_media"
    NO_AUDIO = "no_audio"
    NO_SUCH_TRACK = "no_such_track"
    DAMAGED = "damaged"
    NO_DECODER = "no_decoder"
    # the model
    MODEL_MISSING = "model_missing"
    MODEL_UNKNOWN = "model_unknown"
    MODEL_DAMAGED = "model_damaged"
    MODEL_CHANGED = "model_changed"
    MODEL_CANNOT = "model_cannot"
    MODEL_BUSY = "model_busy"
    IMPORT_FAILED = "import_failed"
    DOWNLOAD_FAILED = "download_failed"
    DOWNLOAD_WRONG = "download_wrong"
    # the engine
    CPU_TOO_OLD = "cpu_too_old"
    BACKEND_MISSING = "backend_missing"
    BACKEND_FAILED = "backend_failed"
    OUT_OF_MEMORY = "out_of_memory"
    ENGINE_DIED = "engine_died"
    ENGINE_HUNG = "engine_hung"
    ENGINE_GARBLED = "engine_garbled"
    ENGINE_NOT_STARTED = "engine_not_started"
    BAD_COMMAND = "bad_command"
    INTERNAL = "internal"
    # the microphone
    NO_MICROPHONE = "no_microphone"
    NO_SOUND_SYSTEM = "no_sound_system"
    SOUND_SYSTEM_BROKEN = "sound_system_broken"
    MICROPHONE_REFUSED = "microphone_refused"
    RECORDER_DIED = "recorder_died"
    # what is written
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    ALREADY_THERE = "already_there"
    IS_SOURCE = "is_source"
    NOT_A_TRANSCRIPT = "not_a_transcript"
    SEVERAL = "several"
    CANNOT_MUX = "cannot_mux"
    LIBRARY_DAMAGED = "library_damaged"
    LIBRARY_NEWER = "library_newer"


SENTENCES: dict[Code, str] = {
    Code.NOT_FOUND: "The file is not there.",
    Code.IS_FOLDER: "This is a folder, not a recording.",
    Code.NOT_READABLE: "The file may not be read.",
    Code.EMPTY_FILE: "The file is empty.",
    Code.NOT_MEDIA: "This is not an audio or video file.",
    Code.NO_AUDIO: "The file has no sound.",
    Code.NO_SUCH_TRACK: "The file has no such audio track.",
    Code.DAMAGED: "The file is damaged or incomplete.",
    Code.NO_DECODER: "The sound of this file is locked or of a kind that cannot be read.",
    Code.MODEL_MISSING: "The model is not on this computer.",
    Code.MODEL_UNKNOWN: "No model has this name.",
    Code.MODEL_DAMAGED: "The model file is damaged or not a Whisper model.",
    Code.MODEL_CHANGED: "The model file is not the one that was put there.",
    Code.MODEL_CANNOT: "The model cannot do this.",
    Code.MODEL_BUSY: "Another window or command is busy with this model.",
    Code.IMPORT_FAILED: "The model cannot be imported.",
    Code.DOWNLOAD_FAILED: "The download did not finish.",
    Code.DOWNLOAD_WRONG: "The downloaded file is not the one that was promised.",
    Code.CPU_TOO_OLD: "This processor lacks instructions that the engine needs.",
    Code.BACKEND_MISSING: "This way of running the model is not installed.",
    Code.BACKEND_FAILED: "The engine could not transcribe.",
    Code.OUT_OF_MEMORY: "There is not enough memory for this model.",
    Code.ENGINE_DIED: "The engine stopped unexpectedly.",
    Code.ENGINE_HUNG: "The engine no longer answered and was stopped.",
    Code.ENGINE_GARBLED: "The engine answered with something unreadable and was stopped.",
    Code.ENGINE_NOT_STARTED: "The engine could not be started.",
    Code.BAD_COMMAND: "The engine was asked for something it does not know.",
    Code.INTERNAL: "Something went wrong inside the engine.",
    Code.NO_MICROPHONE: "There is no such microphone.",
    Code.NO_SOUND_SYSTEM: "The system's library for sound (PortAudio) is missing.",
    Code.SOUND_SYSTEM_BROKEN: "The system's sound does not work: asking it for microphones ended the program.",
    Code.MICROPHONE_REFUSED: "The microphone cannot be opened.",
    Code.RECORDER_DIED: "The recorder stopped unexpectedly; what was recorded until then is kept.",
    Code.DISK_FULL: "The disk is full.",
    Code.NOT_WRITABLE: "The file cannot be written there.",
    Code.ALREADY_THERE: "A file of this name is already there.",
    Code.IS_SOURCE: "This file is the recording itself.",
    Code.NOT_A_TRANSCRIPT: "The file is not a transcript.",
    Code.SEVERAL: "Several transcripts have this title.",
    Code.CANNOT_MUX: "The subtitles cannot be put into this film.",
    Code.LIBRARY_DAMAGED: "The library file is damaged.",
    Code.LIBRARY_NEWER: "The library was written by a newer version.",
}


class EngineError(Exception):
    """A failure with a code that the window acts on and a detail for people who want to know more."""

    def __init__(self, code: Code, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{SENTENCES[self.code]} {self.detail}".rstrip()
