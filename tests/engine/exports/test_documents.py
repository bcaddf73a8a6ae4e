"""Other programs read what they get: players, word processors, PDF readers, spreadsheets, browsers."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import av
import docx
import pysubs2
import pytest
from hypothesis import given, settings

from engine.exports import FORMATS
from engine.exports.cues import Cue, cues
from engine.exports.paragraphs import paragraphs
from engine.exports.rules import PRESETS
from engine.types import Segment, Transcript
from tests.engine.exports.strategies import any_segments, spoken_segments

NETFLIX, SOCIAL, PLAIN = (PRESETS[name] for name in ("netflix", "social", "plain"))
TT = "{http://www.w3.org/ns/ttml}"


def made_of(segments: list[Segment]) -> Transcript:
    return Transcript("talk.mp3", None, "en", "base", "fake", tuple(segments))


def hundredths(made: list[Cue]) -> list[tuple[int, int]]:
    return [(cue.start // 10 * 10, cue.end // 10 * 10) for cue in made]


@settings(max_examples=60, deadline=None)
@given(spoken_segments())
def test_players_find_the_cues_in_ass_and_ttml(segments: list[Segment]) -> None:
    for rules in (NETFLIX, SOCIAL):
        made = cues(segments, None, rules)
        ass = pysubs2.SSAFile.from_string(FORMATS["ass"].write(made_of(segments), rules).decode(), format_="ass")
        assert [(event.start, event.end) for event in ass] == hundredths(made)
        assert [event.plaintext for event in ass] == [cue.text for cue in made]
        ttml = pysubs2.SSAFile.from_string(FORMATS["ttml"].write(made_of(segments), rules).decode(), format_="ttml")
        assert [(event.start, event.end) for event in ttml] == [(cue.start, cue.end) for cue in made]
        assert [event.plaintext for event in ttml] == [cue.text for cue in made]


@settings(max_examples=75, deadline=None)
@given(any_segments())
def test_any_text_makes_a_well_formed_ttml_file(segments: list[Segment]) -> None:
    root = ET.fromstring(FORMATS["ttml"].write(made_of(segments), PLAIN))
    told = ["".join(found.itertext()) for found in root.iter(f"{TT}p")]
    assert told == ["".join(cue.lines) for cue in cues(segments, None, PLAIN)]


def test_ffmpeg_reads_ass_with_its_karaoke(rich: Transcript, tmp_path: Path) -> None:
    path = tmp_path / "rich.ass"
    path.write_bytes(FORMATS["ass"].write(rich, SOCIAL))
    with av.open(path) as file:
        found = [(packet.pts, packet.duration) for packet in file.demux() if packet.size]
    made = cues(rich.segments, rich.duration, SOCIAL)
    assert [start for start, _length in found] == [cue.start // 10 for cue in made]


def test_each_word_of_karaoke_lights_up_at_its_time(rich: Transcript) -> None:
    made = cues(rich.segments, rich.duration, SOCIAL)
    first = next(
        line for line in FORMATS["ass"].write(rich, SOCIAL).decode().split("\n") if line.startswith("Dialogue")
    )
    times = [int(part.split("}")[0]) for part in first.split("{\\k")[1:]]
    starts = [made[0].start + 10 * sum(times[:place]) for place in range(len(times))]
    assert starts == [word.start for word in made[0].words]


@settings(max_examples=75, deadline=None)
@given(any_segments())
def test_spreadsheets_get_a_row_for_each_segment(segments: list[Segment]) -> None:
    read = list(csv.reader(io.StringIO(FORMATS["csv"].write(made_of(segments), PLAIN).decode("utf-8-sig"))))
    lines = FORMATS["tsv"].write(made_of(segments), PLAIN).decode().split("\n")[:-1]
    assert [line.split("\t") for line in lines] == read
    assert all(len(row) == 4 for row in read)


class _Text(HTMLParser):
    """The text of the paragraphs."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        if tag == "p":
            self.parts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "p" in self.inside and not {"button", "b"} & set(self.inside):
            self.parts[-1] += data


@settings(max_examples=75, deadline=None)
@given(any_segments())
def test_a_browser_shows_the_text_as_it_is(segments: list[Segment]) -> None:
    page = _Text()
    page.feed(FORMATS["html"].write(made_of(segments), PLAIN).decode())
    assert page.parts[1:] == [part.text for part in paragraphs(segments)]


def test_a_web_page_needs_nothing_from_elsewhere(rich: Transcript) -> None:
    page = FORMATS["html"].write(rich, PLAIN).decode()
    assert "http" not in page
    assert "src=" in page.replace('src="Rede%20', "src=", 1)
    assert page.count("src=") == 1


@settings(max_examples=15, deadline=None)
@given(any_segments())
def test_a_word_processor_reads_the_document(segments: list[Segment]) -> None:
    document = docx.Document(io.BytesIO(FORMATS["docx"].write(made_of(segments), PLAIN)))
    told = [paragraph.runs[-1].text for paragraph in document.paragraphs[2:]]
    assert told == [part.text for part in paragraphs(segments)]


def test_a_document_names_its_speakers_and_turns_round(rich: Transcript) -> None:
    document = docx.Document(io.BytesIO(FORMATS["docx"].write(rich, PLAIN)))
    first, second, third = document.paragraphs[2:5]
    assert [run.text for run in first.runs[:2]] == ["Anna <A> & B  ", "00:01  "]
    assert first.runs[0].bold
    assert second.runs[0].text == "太郎  "
    assert third.runs[-1].font.rtl
    assert document.core_properties.author == ""


def test_a_pdf_reader_finds_the_text(rich: Transcript, tmp_path: Path) -> None:
    path = tmp_path / "rich.pdf"
    path.write_bytes(FORMATS["pdf"].write(rich, PLAIN))
    read = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, timeout=60).stdout
    # A font has one glyph for 日 and the radical ⽇, for ff and ﬀ: a reader may name either.
    text = unicodedata.normalize("NFKC", " ".join(read.decode().split()))
    assert "And so, my fellow Americans, ask not what your country can do for you." in text
    assert "Anna <A> & B" in text
    assert "日本語" in text


def test_a_long_transcript_has_pages_with_numbers(tmp_path: Path) -> None:
    segments = [
        Segment(at * 5_000, at * 5_000 + 900, f"Sentence {at} is said here, with a few words.") for at in range(150)
    ]
    path = tmp_path / "long.pdf"
    path.write_bytes(FORMATS["pdf"].write(made_of(segments), PLAIN))
    read = subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, timeout=60).stdout
    pages = read.decode().split("\f")[:-1]
    assert len(pages) > 3
    assert [page.split()[-1] for page in pages] == [str(number) for number in range(1, len(pages) + 1)]
    assert sum(page.count("Sentence") for page in pages) == 150


def test_the_window_loads_no_word_processor() -> None:
    """It imports the formats to name them; what writes documents is loaded where one is written."""
    code = "import sys, engine.exports; print(sorted({'docx', 'lxml', 'av', 'numpy', 'PySide6'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["md", "txt"])
def test_text_for_reading_has_all_that_was_said(rich: Transcript, name: str) -> None:
    text = FORMATS[name].write(rich, PLAIN).decode()
    assert "my fellow Americans" in text
    assert "A hundred hours later." in text
