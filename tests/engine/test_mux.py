"""Subtitles as a track of a film: another program finds them there, and sound and pictures are as they were."""

from __future__ import annotations

import subprocess
from pathlib import Path

import av
import pytest

from engine.errors import Code, EngineError
from engine.exports.cues import cues
from engine.exports.rules import PRESETS
from engine.mux import mux
from engine.types import Segment, Transcript

RULES = PRESETS["plain"]
SAID = (
    Segment(400, 1_500, "Good mörning & all."),
    Segment(2_500, 3_900, "שלום עולם."),
    Segment(5_000, 6_500, "End."),
)
TRANSCRIPT = Transcript("film.mp4", 7_000, "de", "base", "fake", SAID)


def ffmpeg(*arguments: str | Path) -> bytes:
    command = ["ffmpeg", "-nostdin", "-v", "error", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven seconds of picture and sound, with a title and a chapter."""
    folder = tmp_path_factory.mktemp("film")
    facts = ";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=3000\ntitle=One\n"
    (folder / "facts.txt").write_text(facts)
    made = folder / "film.mkv"
    sources = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=7", "-f", "lavfi", "-i", "sine=d=7")
    ffmpeg(*sources, "-i", folder / "facts.txt", "-map_metadata", "2", "-c:v", "mpeg4", "-c:a", "aac", made)
    return made


def packets(path: Path) -> dict[str, list[bytes]]:
    """The bytes of all packets, by the kind of their stream."""
    found: dict[str, list[bytes]] = {"video": [], "audio": []}
    with av.open(path) as file:
        for packet in file.demux(*file.streams.video, *file.streams.audio):
            if packet.size:
                found[packet.stream.type].append(bytes(packet))
    return found


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov"])
def test_a_film_has_subtitles_and_all_that_it_had(film: Path, tmp_path: Path, suffix: str) -> None:
    target, before = tmp_path / f"out{suffix}", film.read_bytes()
    assert mux(film, TRANSCRIPT, target, RULES) == 0
    assert film.read_bytes() == before
    assert packets(target) == packets(film)
    with av.open(target) as file:
        (track,) = file.streams.subtitles
        assert suffix == ".mov" or track.metadata["language"] == "deu"  # QuickTime has numbers for a few languages only
        assert file.metadata["title"] == "A film"
        assert [chapter["metadata"]["title"] for chapter in file.chapters()] == ["One"]
    told = ffmpeg("-i", target, "-map", "0:s", "-f", "srt", "-").decode()
    for cue in cues(SAID, 7_000, RULES):
        assert cue.text in told.replace("\u200f", "").replace("&amp;", "&")
    assert told.count("-->") == 3


@pytest.mark.parametrize("way", ["itself", "link"])
def test_the_film_is_never_written_over(film: Path, tmp_path: Path, way: str) -> None:
    target, before = film, film.read_bytes()
    if way == "link":
        target = tmp_path / "link.mkv"
        target.symlink_to(film)
    with pytest.raises(EngineError) as error:
        mux(film, TRANSCRIPT, target, RULES, overwrite=True)
    assert error.value.code == Code.IS_SOURCE
    assert film.read_bytes() == before


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(film: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mkv"
    target.write_text("old")
    with pytest.raises(EngineError) as error:
        mux(film, TRANSCRIPT, target, RULES)
    assert (error.value.code, target.read_text()) == (Code.ALREADY_THERE, "old")
    mux(film, TRANSCRIPT, target, RULES, overwrite=True)
    assert target.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        (b"no film", "out.mp4", Code.CANNOT_MUX),
        (None, "out.mp4", Code.NOT_FOUND),
        (b"", "out.avi", Code.CANNOT_MUX),
    ],
)
def test_what_cannot_be_is_said_and_leaves_nothing(
    tmp_path: Path, source: bytes | None, target: str, code: Code
) -> None:
    film = tmp_path / "film.mp4"
    if source is not None:
        film.write_bytes(source)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(EngineError) as error:
        mux(film, TRANSCRIPT, tmp_path / target, RULES)
    assert error.value.code == code
    assert sorted(tmp_path.iterdir()) == before


def test_a_container_that_takes_no_such_sound_says_so(film: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.mkv"
    ffmpeg("-i", film, "-c:v", "copy", "-c:a", "wmav2", odd)
    with pytest.raises(EngineError) as error:
        mux(odd, TRANSCRIPT, tmp_path / "out.mp4", RULES)
    assert error.value.code == Code.CANNOT_MUX
    assert not (tmp_path / "out.mp4").exists()
