"""A recording in the window's own objects: the real recorder, a microphone without a sound card, scripted words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from app.engine_client import EngineClient
from app.jobs import Jobs
from app.recording import Recording
from app.recordings import adopt
from engine.library import Library
from engine.recording import Part, RecordingFacts, new_folder, read_facts, write_facts
from engine.types import Options
from tests.virtual_mic import VirtualMicrophone

FAKE = Options(backend="fake")
SENTENCE = "Every sentence of this talk is as long as it has to be, and then it ends."


class Answer:
    """A system that says at once whether the microphone may be heard."""

    def __init__(self, granted: bool = True) -> None:
        self.granted = granted

    def ask(self, then: Callable[[bool], None]) -> None:
        then(self.granted)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What the backend does from now on."""

    def write(**changes: object) -> None:
        monkeypatch.setenv("SOTTOVOCE_FAKE", json.dumps({"text": "Words as scripted."} | changes))

    write()
    return write


@pytest.fixture
def jobs(library: Library, tmp_path: Path, script: Callable[..., None]) -> Iterator[Jobs]:
    made = Jobs(library, EngineClient(tmp_path), EngineClient(tmp_path))
    made.queue.start()
    yield made
    made.stop()


@pytest.fixture
def recording(
    jobs: Jobs, microphone: VirtualMicrophone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> Iterator[Recording]:
    for name, value in microphone.env.items():
        monkeypatch.setenv(name, value)
    made = Recording(jobs, tmp_path, Answer())
    yield made
    if made.is_open:
        made.stop()
        qtbot.waitUntil(lambda: not made.is_open, timeout=20_000)


@pytest.fixture
def becomes(recording: Recording, qtbot: QtBot) -> Callable[[str], None]:
    """Waits for a state of the recording."""
    return lambda state: qtbot.waitUntil(lambda: recording.state == state, timeout=20_000)


@pytest.fixture
def speech(speak: Callable[..., Path]) -> Path:
    return speak(SENTENCE)


def recorder_process(word: str = "recorder") -> psutil.Process:
    children = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return next(child for child in children if word in child.cmdline())


def test_what_is_said_is_a_transcript_when_the_recording_stops(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], microphone: VirtualMicrophone, speech: Path
) -> None:
    states: list[str] = []
    recording.changed.connect(lambda: states.append(recording.state))
    recording.start(FAKE)
    becomes("recording")
    entry_id = recording.entry_id
    assert entry_id is not None
    assert jobs.entry(entry_id).state == "running"
    microphone.play(speech).wait()
    recording.stop()
    becomes("ready")
    entry = jobs.entry(entry_id)
    assert (entry.state, entry.outcome) == ("done", "text")
    assert "Words as scripted." in " ".join(segment.text for segment in jobs.segments(entry_id))
    assert read_facts(Path(os.fsdecode(entry.source))).state == "stopped"
    assert list(dict.fromkeys(states)) == ["starting", "recording", "finishing", "ready"]
    assert abs((entry.duration or 0) - recording.elapsed) < 100


def test_files_wait_while_somebody_records_and_go_on_afterwards(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot, script: Callable[..., None],
    speak: Callable[..., Path],
) -> None:  # fmt: skip
    script(window_ms=700)
    long = speak(SENTENCE * 40)
    (first, second) = jobs.add([os.fsencode(long), os.fsencode(speak(SENTENCE))], FAKE)
    qtbot.waitUntil(lambda: len(jobs.segments(first)) > 0, timeout=20_000)
    recording.start(FAKE)
    becomes("recording")
    assert jobs.queue.why_waits(first) == jobs.queue.why_waits(second) == "for the recording"
    assert jobs.queue.why_waits(recording.entry_id or 0) == ""
    qtbot.wait(2_000)  # the window that was on its way, and a few more if nobody held it
    held = len(jobs.segments(first))
    qtbot.wait(2_000)
    assert len(jobs.segments(first)) == held
    assert jobs.entry(first).state == "running"
    recording.stop()
    becomes("ready")
    qtbot.waitUntil(lambda: jobs.entry(second).state == "done", timeout=60_000)
    assert jobs.entry(first).state == "done"
    assert len(jobs.segments(first)) > held


def test_a_pause_leaves_out_what_is_said(recording: Recording, becomes: Callable[[str], None], qtbot: QtBot) -> None:
    recording.start(FAKE)
    becomes("recording")
    qtbot.waitUntil(lambda: recording.elapsed > 500, timeout=10_000)
    recording.pause()
    assert recording.state == "paused"
    qtbot.wait(500)
    paused_at = recording.elapsed
    qtbot.wait(1_500)
    assert recording.elapsed == paused_at
    recording.resume()
    qtbot.waitUntil(lambda: recording.elapsed > paused_at, timeout=10_000)
    recording.stop()
    becomes("ready")


def test_a_killed_recorder_costs_one_sentence_and_at_most_a_moment_of_sound(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot
) -> None:
    recording.start(FAKE)
    becomes("recording")
    qtbot.waitUntil(lambda: recording.elapsed > 1_500, timeout=10_000)
    recorder_process().kill()
    shown = recording.elapsed
    becomes("failed")
    assert recording.trouble is not None
    assert recording.trouble.what.startswith("The recorder stopped unexpectedly")
    entry = jobs.entry(recording.entry_id or 0)
    assert (entry.state, read_facts(Path(os.fsdecode(entry.source))).state) == ("done", "recovered")
    assert (entry.duration or 0) >= shown - 500
    recording.dismiss()
    assert recording.state == "ready"


def test_a_dead_engine_does_not_stop_the_sound(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot, script: Callable[..., None],
    microphone: VirtualMicrophone, speech: Path,
) -> None:  # fmt: skip
    script(die="SIGSEGV", die_at=0)
    recording.start(FAKE)
    becomes("recording")
    microphone.play(speech).wait()
    qtbot.waitUntil(lambda: jobs.entry(recording.entry_id or 0).state == "failed", timeout=20_000)
    assert recording.state == "recording"
    assert recording.trouble is not None
    assert "The sound is still recorded." in recording.trouble.what
    before = recording.elapsed
    qtbot.waitUntil(lambda: recording.elapsed > before + 500, timeout=10_000)
    script()
    recording.stop()
    becomes("ready")
    jobs.retry(recording.entry_id or 0)
    qtbot.waitUntil(lambda: jobs.entry(recording.entry_id or 0).state == "done", timeout=20_000)
    assert jobs.segments(recording.entry_id or 0)


def test_a_slow_engine_is_said_to_be_behind_and_loses_nothing(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot, script: Callable[..., None],
    microphone: VirtualMicrophone, speak: Callable[..., Path],
) -> None:  # fmt: skip
    script(window_ms=6_000)
    recording.start(FAKE)
    becomes("recording")
    player = microphone.play(speak(f"{SENTENCE} {SENTENCE}"))
    qtbot.waitUntil(lambda: recording.behind >= 5_000, timeout=30_000)
    player.wait()
    recording.stop()
    qtbot.waitUntil(lambda: recording.state == "ready", timeout=60_000)
    entry = jobs.entry(recording.entry_id or 0)
    assert (entry.state, entry.settled) == ("done", entry.duration)
    assert jobs.segments(entry.id)


def test_without_a_microphone_or_leave_to_hear_it_there_is_a_sentence(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], tmp_path: Path, microphone: VirtualMicrophone
) -> None:
    recording.start(FAKE, "no such microphone")
    becomes("failed")
    assert recording.trouble is not None
    assert recording.trouble.what == "There is no such microphone."
    assert jobs.entries() == []
    refused = Recording(jobs, tmp_path, Answer(granted=False))
    refused.start(FAKE)
    assert refused.state == "failed"
    assert refused.trouble is not None
    assert "Allow Sottovoce the microphone" in refused.trouble.todo


def test_cancelling_its_words_stops_the_recording_and_keeps_the_sound(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot
) -> None:
    recording.start(FAKE)
    becomes("recording")
    entry_id = recording.entry_id or 0
    jobs.cancel(entry_id)
    becomes("ready")
    entry = jobs.entry(entry_id)
    assert entry.state == "cancelled"
    assert read_facts(Path(os.fsdecode(entry.source))).state == "stopped"


def test_the_next_recording_leaves_the_rest_of_the_last_one_to_the_queue(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot, script: Callable[..., None],
    microphone: VirtualMicrophone, speech: Path,
) -> None:  # fmt: skip
    script(window_ms=3_000)
    recording.start(FAKE)
    becomes("recording")
    microphone.play(speech).wait()
    recording.stop()
    first = recording.entry_id or 0
    qtbot.waitUntil(lambda: not recording.is_open, timeout=10_000)
    assert recording.state == "finishing"
    recording.start(FAKE)
    becomes("recording")
    assert recording.entry_id != first
    assert jobs.entry(first).state == "waiting"
    recording.stop()
    becomes("ready")
    qtbot.waitUntil(lambda: jobs.entry(first).state == "done", timeout=20_000)
    assert jobs.segments(first)


def test_a_recording_that_a_dead_window_left_is_offered_and_transcribed_on_a_click(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], qtbot: QtBot, library: Library, tmp_path: Path,
    microphone: VirtualMicrophone, speech: Path,
) -> None:  # fmt: skip
    recording.start(FAKE)
    becomes("recording")
    microphone.play(speech).wait()
    entry_id = recording.entry_id or 0
    jobs.following.end("interrupted")
    recorder_process().kill()
    becomes("failed")
    library.update(entry_id, state="running")  # as a dead window leaves it
    adopt(library, tmp_path, FAKE)
    jobs.queue.start()
    entry = jobs.entry(entry_id)
    assert entry.state == "interrupted"
    assert [notice.code for notice in entry.notices][-1:] == ["recovered"]
    jobs.go_on(entry_id)
    qtbot.waitUntil(lambda: jobs.entry(entry_id).state == "done", timeout=20_000)
    assert jobs.segments(entry_id)


def test_a_recording_from_a_terminal_is_in_the_list_and_is_only_deleted_after_its_removal(
    jobs: Jobs, library: Library, tmp_path: Path, recording: Recording
) -> None:
    record = ["-P", "-m", "engine", "record", "--seconds", "1"]
    environment = {**os.environ, "SOTTOVOCE_DATA": str(tmp_path)}
    subprocess.run([sys.executable, *record], env=environment, check=True, capture_output=True)
    adopt(library, tmp_path, FAKE)
    (entry,) = library.entries()
    folder = Path(os.fsdecode(entry.source))
    assert (entry.state, folder.parent) == ("interrupted", tmp_path / "recordings")
    assert 900 <= (entry.duration or 0) <= 1_500
    adopt(library, tmp_path, FAKE)
    assert len(library.entries()) == 1
    again = library.add(entry.source, FAKE)
    library.remove([entry.id])
    adopt(library, tmp_path, FAKE)
    assert folder.exists(), "another entry still needs it"
    library.remove([again.id])
    adopt(library, tmp_path, FAKE)
    assert not folder.exists()
    library.purge()
    adopt(library, tmp_path, FAKE)
    assert library.entries() == []


def test_a_full_disk_ends_the_recording_and_its_words_come_to_an_end(
    recording: Recording, jobs: Jobs, becomes: Callable[[str], None], tmp_path: Path, speech: Path, qtbot: QtBot
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    disk = tmp_path / "recordings"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], check=True)
    try:
        recording.start(FAKE)
        becomes("failed")
        assert recording.trouble is not None
        assert recording.trouble.what == "The disk is full."
        entry = jobs.entry(recording.entry_id or 0)
        assert entry.state == "done", "all that was written is text"
        assert (entry.duration or 0) > 1_000
        (file,) = jobs.add([os.fsencode(speech)], FAKE)
        qtbot.waitUntil(lambda: jobs.entry(file).state == "done", timeout=20_000)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_sound_that_was_dropped_on_the_window_as_a_file_is_not_deleted_with_its_recording(
    library: Library, tmp_path: Path
) -> None:
    folder = new_folder(tmp_path)
    write_facts(folder, RecordingFacts(folder.name, 0, "a microphone", "stopped"))
    recorded = library.add(os.fsencode(folder), FAKE)
    library.add(os.fsencode(folder / "audio.wav"), FAKE)
    library.remove([recorded.id])
    adopt(library, tmp_path, FAKE)
    assert folder.exists()


def test_a_recording_whose_sound_is_gone_is_not_listed(library: Library, tmp_path: Path) -> None:
    folder = new_folder(tmp_path)
    facts = RecordingFacts(folder.name, 0, "a microphone", "stopped", (Part("audio.wav", 16_000, 1, 0),))
    write_facts(folder, facts)
    adopt(library, tmp_path, FAKE)
    assert library.entries() == []


def test_a_recording_that_is_dropped_on_the_window_is_one_entry_and_not_one_a_part(jobs: Jobs, tmp_path: Path) -> None:
    folder = new_folder(tmp_path)
    write_facts(folder, RecordingFacts(folder.name, 0, "a microphone", "stopped"))
    for name in ("audio.wav", "audio-2.wav"):
        (folder / name).write_bytes(b"")
    jobs.add([os.fsencode(folder)], FAKE)
    assert [entry.source for entry in jobs.entries()] == [os.fsencode(folder)]
