"""`sottovoce export` as a user types it: from the library or from files, in several formats, into a film."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pysubs2
import pytest

from engine.exports import FORMATS, json
from engine.folders import library_file
from engine.library import Library
from engine.types import Options, Segment, Transcript

Export: TypeAlias = Callable[..., subprocess.CompletedProcess[bytes]]
SAID = (Segment(0, 2_000, " Good morning."), Segment(2_500, 4_000, " It rains.", speaker="Ann"))


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Runs the verb in `tmp_path`, with a library of three transcripts."""
    data = tmp_path / "data"
    data.mkdir()
    library = Library.open(library_file(data), writable=True)
    for title in ("talk.mp3", "interview.wav", "Interview.wav"):
        entry = library.add(bytes(tmp_path / title), Options())
        library.segments.append(entry.id, *SAID)
        library.update(entry.id, state="done", outcome="text", duration=5_000, language="en")
    library.close()

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-P", "-m", "engine", "--data-dir", str(data), "export", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)

    return run


@pytest.mark.parametrize("asked", ["1", "talk.mp3", "TALK"])
def test_a_transcript_of_the_library_is_named_by_number_or_title(export: Export, asked: str) -> None:
    done = export(asked, "--format", "txt")
    assert (done.returncode, done.stdout.decode()) == (0, "Good morning.\n\nAnn: It rains.\n")


def test_the_library_is_listed(export: Export) -> None:
    lines = export().stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert lines[2].split() == ["1", "00:05", "talk.mp3"]


def test_several_transcripts_in_several_formats_go_into_a_folder(export: Export, tmp_path: Path) -> None:
    done = export("1", "2", "3", "--format", ",".join(FORMATS), "--output", "out/")
    assert done.returncode == 0, done.stderr
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(written) == 3 * len(FORMATS)
    assert {f"talk.{name}" for name in FORMATS} <= set(written)
    assert pysubs2.load(str(tmp_path / "out" / "talk.srt"))[0].plaintext == "Good morning."
    again = export("1", "--format", "srt", "--output", "out/")
    assert again.returncode == 1
    assert b"already there" in again.stderr
    assert export("1", "--format", "srt", "--output", "out/", "--overwrite").returncode == 0


def test_a_file_is_written_in_another_format_by_the_rules_of_a_preset(export: Export, tmp_path: Path) -> None:
    long = Segment(0, 6_000, "Everything that you say comes a few words at a time, when it is for upright video.")
    (tmp_path / "mine.json").write_text(json.write(Transcript("a", None, "en", None, None, (long,))))
    counts = {}
    for preset in ("plain", "netflix", "social"):
        done = export("mine.json", "--format", "srt", "--preset", preset)
        counts[preset] = done.stdout.count(b"-->")
    assert counts["plain"] <= counts["netflix"] < counts["social"]
    (tmp_path / "made.srt").write_bytes(done.stdout)
    assert export("made.srt", "--output", "made.vtt").returncode == 0
    assert (tmp_path / "made.vtt").read_text().startswith("WEBVTT\n\n00:00:00.000 --> ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("4711",), "neither a JSON, SRT or VTT file nor a transcript"),
        (("INTERVIEW",), "numbers 3, 2"),
        (("bad.json",), "not a transcript"),
    ],
)
def test_what_cannot_be_is_said(export: Export, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "bad.json").write_text("{}")
    done = export(*arguments)
    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("1", "--format", "srt,vtt"),
        ("1", "--format", "mp9"),
        ("1", "2", "--mux", "film.mp4", "--output", "x.mp4"),
        ("1", "--mux", "film.mp4"),
        ("made.srt", "--output", "made.srt", "--overwrite"),
    ],
)
def test_what_does_not_go_together_is_wrong_use(export: Export, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "made.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    done = export(*arguments)
    assert done.returncode == 2
    assert done.stderr
    assert "Hello" in (tmp_path / "made.srt").read_text()


def test_a_film_gets_a_track_of_subtitles(export: Export, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    sources = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=5:d=5", "-f", "lavfi", "-i", "sine=d=5")
    subprocess.run(["ffmpeg", "-v", "error", *sources, "-c:v", "mpeg4", film], check=True, timeout=60)
    done = export("1", "--mux", film, "--output", "new.mkv")
    assert (done.returncode, done.stderr.decode()) == (0, "wrote new.mkv\n")
    read = ["ffmpeg", "-nostdin", "-v", "error", "-i", str(tmp_path / "new.mkv"), "-map", "0:s", "-f", "srt", "-"]
    assert b"It rains." in subprocess.run(read, check=True, capture_output=True, timeout=60).stdout
