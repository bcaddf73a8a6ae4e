"""A transcript that was exported as JSON comes back by dropping it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.jobs import Jobs
from engine.exports import FORMATS, json
from engine.exports.rules import PRESETS
from engine.transcripts import MOST_BYTES
from engine.types import Options, Phase, Segment, Timings, Transcript, Word

SAID = (
    Segment(
        0, 900, " Good morning.", (Word(0, 400, " Good"), Word(400, 900, " morning.", 0.9)), extra={"mood": "calm"}
    ),
    Segment(1_000, 1_900, " It rains.", speaker="Ann", flags=("repeats",)),
)
MADE = Transcript("talk.wav", 2_000, "en", "small", "onnx", SAID, Timings(500, 2_000, (Phase("encode", 400),)))


def dropped(jobs: Jobs, path: Path) -> tuple[list[int], list[str]]:
    """The ids of what was added, and what was said."""
    heard: list[str] = []
    jobs.said.connect(heard.append)
    return jobs.add([bytes(path)], Options()), heard


def test_an_exported_transcript_comes_back_whole(jobs: Jobs, tmp_path: Path) -> None:
    path = tmp_path / "mine.JSON"
    path.write_text(json.write(MADE), encoding="utf-8")
    (added,), heard = dropped(jobs, path)
    entry = jobs.entry(added)
    assert (entry.state, entry.outcome, entry.title) == ("done", "text", "talk.wav")
    assert (entry.duration, entry.language, entry.model, entry.backend) == (2_000, "en", "small", "onnx")
    assert (entry.timings, entry.options.model, entry.source) == (MADE.timings, "small", bytes(path))
    assert tuple(jobs.segments(added)) == SAID
    assert heard == []


def test_a_transcript_without_text_is_one_too(jobs: Jobs, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('\ufeff{"version": 1, "segments": []}', encoding="utf-8")
    (added,), _heard = dropped(jobs, path)
    assert (jobs.entry(added).state, jobs.entry(added).outcome, jobs.entry(added).title) == (
        "done",
        "no_speech",
        "mine.json",
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff\xfe{}",
        b'{"version": 2, "segments": []}',
        b'{"version": 1, "segments": [{"start": 99999999999999999999, "end": 1, "text": ""}]}',
    ],
)
def test_another_json_file_is_not_added(jobs: Jobs, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "package.json"
    path.write_bytes(content)
    ids, heard = dropped(jobs, path)
    assert (ids, jobs.entries()) == ([], [])
    assert heard[0].startswith("“package.json”: The file is not a transcript.")


def test_a_json_file_that_is_too_large_is_not_read(jobs: Jobs, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.touch()
    os.truncate(path, MOST_BYTES + 1)
    assert dropped(jobs, path)[1] == ["“large.json”: The file is not a transcript. It is larger than 50 MB."]


def test_a_json_file_that_is_not_there_is_said_and_the_rest_is_added(jobs: Jobs, tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text(json.write(MADE), encoding="utf-8")
    heard: list[str] = []
    jobs.said.connect(heard.append)
    ids = jobs.add([bytes(tmp_path / "gone.json"), bytes(there)], Options())
    assert [jobs.entry(added).title for added in ids] == ["talk.wav"]
    assert heard[0].startswith("“gone.json”: The file is not there.")


@pytest.mark.parametrize("name", ["mine.srt", "mine.VTT"])
def test_subtitles_are_taken_in(jobs: Jobs, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS[name[-3:].lower()].write(MADE, PRESETS["plain"]))
    (added,), heard = dropped(jobs, path)
    assert (jobs.entry(added).state, jobs.entry(added).title) == ("done", name)
    assert next(segment.text for segment in jobs.segments(added)) == "Good morning."
    assert heard == []


@pytest.mark.parametrize("name", ["talk.srt", "talk.vtt"])
def test_what_only_has_the_name_of_subtitles_is_said(jobs: Jobs, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"RIFF no subtitles at all")
    ids, heard = dropped(jobs, path)
    assert ids == []
    assert heard[0].startswith(f"“{name}”: The file is not a transcript.")
