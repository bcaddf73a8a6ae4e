"""What the library has stored stays stored, and comes back as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.library import Entry, Library
from engine.protocol import Notice
from engine.types import Options, Phase, Segment, Timings, Transcript, Word

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RICH = Segment(
    1_000,
    2_500,
    "Ça va? 日本語 🎉 <b> --> &",
    (Word(1_000, 1_400, "Ça", 0.5), Word(1_400, 2_500, " va?", None)),
    speaker="Zoë",
    language="fr",
    avg_logprob=-0.25,
    no_speech_prob=0.125,
    flags=("repeats",),
    extra={"theirs": [1, {"deep": None}]},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "Bücher e\u0301 📚" / "library.sqlite"


@pytest.fixture
def library(path: Path) -> Iterator[Library]:
    path.parent.mkdir()
    library = Library.open(path, writable=True)
    yield library
    library.close()


def plain(number: int) -> Segment:
    return Segment(number * 1_000, number * 1_000 + 900, f"sentence {number}")


def add(library: Library, name: str = "talk.mp3", *segments: Segment) -> int:
    entry = library.add(f"/home/anna/{name}".encode(), Options()).id
    for segment in segments:
        library.segments.append(entry, segment)
    return entry


def test_a_new_entry_waits_and_is_called_as_its_file(library: Library) -> None:
    options = Options(model="tiny.en", language="de", prompt="", words=True, track=2)
    entry = library.add("/home/anna/Gespräch 3.m4a".encode(), options, created=5)
    assert entry == Entry(1, "/home/anna/Gespräch 3.m4a".encode(), "Gespräch 3.m4a", 5, "waiting", options)
    assert library.entry(1) == entry
    assert abs(library.add(b"/x", Options()).created - time.time() * 1000) < 60_000


def test_a_name_that_is_no_text_gets_a_title_that_is(library: Library) -> None:
    entry = library.add(b"/home/\xff\xfe.mp3", Options())
    assert library.entry(entry.id).source == b"/home/\xff\xfe.mp3"
    assert entry.title == "\\xff\\xfe.mp3"


def test_every_field_of_an_entry_comes_back(library: Library) -> None:
    entry = library.entry(add(library))
    changed = library.update(
        entry.id,
        title="New",
        state="done",
        options=Options(beam=5),
        duration=60_000,
        language="en",
        language_probability=0.98,
        model="base",
        backend="whispercpp",
        device="CPU: no GPU in this build",
        reason="fastest here",
        load_ms=300,
        outcome="no_speech",
        speech=0,
        peak_dbfs=-12.5,
        track_name="English",
        deaths=1,
        error=Code.ENGINE_DIED,
        error_detail="SIGSEGV",
        notices=(Notice(1, "quiet", "-50 dB", 0, 10),),
        timings=Timings(10, 20, (Phase("encode", 5, 2),), {"weights": 100}, 1_000),
    )
    library.segments.settle(entry.id, 30_000)
    assert library.entry(entry.id) == replace(changed, settled=30_000)
    assert changed.error is Code.ENGINE_DIED
    assert library.update(entry.id, error=None, timings=None).error is None


def test_half_a_character_in_a_message_is_stored_readably(library: Library) -> None:
    assert library.update(add(library), error_detail="no \udcff").error_detail == "no \\udcff"


def test_entries_are_newest_first(library: Library) -> None:
    ids = [library.add(b"/a", Options(), created=when).id for when in (10, 30, 20, 30)]
    assert [entry.id for entry in library.entries()] == [ids[3], ids[1], ids[2], ids[0]]


def test_segments_come_back_in_order_as_they_were(library: Library) -> None:
    entry = add(library, "a", plain(3), RICH, plain(2), plain(0))
    add(library, "b", plain(7))
    assert library.segments.read(entry) == [plain(0), RICH, plain(2), plain(3)]
    assert library.segments.read(entry, first=1, count=2) == [RICH, plain(2)]
    assert library.segments.count(entry) == 4


def test_a_transcript_names_the_file_but_not_the_users_folders(library: Library) -> None:
    entry = add(library, "talk.mp3", RICH)
    library.update(entry, duration=9_000, language="fr", model="base", backend="fake", timings=Timings(5), title="T")
    assert library.transcript(entry) == Transcript("talk.mp3", 9_000, "fr", "base", "fake", (RICH,), Timings(5))


def test_a_job_that_goes_on_drops_only_what_was_not_settled(library: Library) -> None:
    entry = add(library, "a", *map(plain, range(5)))
    library.segments.settle(entry, 3_000)
    library.segments.settle(entry, 2_000)
    library.segments.drop_unsettled(entry)
    assert library.segments.read(entry) == [plain(0), plain(1), plain(2)]
    assert library.entry(entry).settled == 3_000


def test_a_start_from_the_beginning_has_nothing_settled(library: Library) -> None:
    entry = add(library, "a", plain(0))
    library.segments.settle(entry, 1_000)
    library.segments.clear(entry)
    assert library.segments.count(entry) == library.entry(entry).settled == 0


def test_an_id_that_is_not_there_is_a_key_error(library: Library) -> None:
    for action in (
        lambda: library.entry(7),
        lambda: library.update(7, title="x"),
        lambda: library.segments.append(7, RICH),
        lambda: library.segments.settle(7, 1),
        lambda: library.segments.drop_unsettled(7),
        lambda: library.segments.clear(7),
        lambda: library.transcript(7),
    ):
        with pytest.raises(KeyError):
            action()
    assert library.segments.read(7) == []


def test_a_removal_can_be_taken_back_until_the_purge(library: Library) -> None:
    kept, gone = add(library, "kept", RICH), add(library, "gone", RICH)
    library.remove([kept, gone])
    assert library.entries() == []
    library.restore([kept])
    library.purge()
    assert [entry.id for entry in library.entries()] == [kept]
    assert library.segments.read(kept) == [RICH]
    assert library.segments.read(gone) == []
    with pytest.raises(KeyError):
        library.entry(gone)
    assert add(library) > gone  # a job may still speak of the removed one


def test_purged_words_are_no_longer_in_the_file(library: Library, path: Path) -> None:
    entry = add(library, "a", Segment(0, 1, "the confidential thing", (Word(0, 1, " confidential"),)))
    add(library, "b", *map(plain, range(100)))
    library.remove([entry])
    library.purge()
    library.close()
    assert b"confidential" not in path.read_bytes()
    assert b"sentence 99" in path.read_bytes()


def test_jobs_of_a_dead_window_can_go_on(library: Library) -> None:
    states = ("waiting", "running", "done", "failed", "cancelled", "interrupted", "running")
    ids = [add(library) for _ in states]
    for entry, state in zip(ids, states, strict=True):
        library.update(entry, state=state)
    library.remove([ids[-1]])
    assert [(entry.id, entry.state) for entry in library.interrupted()] == [(1, "waiting"), (2, "interrupted")]
    assert [entry.id for entry in library.interrupted()] == [1]
    library.restore([ids[-1]])
    assert library.entry(ids[-1]).state == "interrupted"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FELLOW americans", "speech"),
        ("ça VA", "french"),
        (unicodedata.normalize("NFD", "Ça"), "french"),
        ("STRASSE", "german"),
        ("日本", "japanese"),
        ("語", "japanese"),
        ("100%", "percent"),
        ("a_b", "percent"),
        ("back\\slash", "percent"),
        ("GERMAN.mp3", "german"),
        ("nowhere", None),
        ("100_", None),
        ("removed", None),
    ],
)
def test_search_finds_titles_and_words_in_any_case(library: Library, text: str, found: str | None) -> None:
    said = {
        "speech": "And so, my fellow Americans",
        "french": "Ça va",
        "german": "die Straße",
        "japanese": "これは日本語です",
        "percent": "it is 100% a_b back\\slash",
        "removed": "removed",
    }
    ids = {name: add(library, f"{name}.mp3", plain(0), Segment(0, 1, words)) for name, words in said.items()}
    library.remove([ids["removed"]])
    assert library.search(text) == ([ids[found]] if found else [])


def test_search_lists_the_newest_first_and_nothing_finds_all(library: Library) -> None:
    first, second, third = add(library, "a", plain(1)), add(library, "sentence"), add(library, "c", plain(1))
    assert library.search("sentence") == library.search("") == [third, second, first]


def test_a_reader_follows_while_the_writer_works(library: Library, path: Path) -> None:
    reader = Library.open(path, writable=False)
    entry = add(library, "a", plain(0))
    assert reader.segments.read(entry) == [plain(0)]
    library.segments.append(entry, plain(1))
    assert reader.segments.read(entry) == [plain(0), plain(1)]
    with pytest.raises(EngineError) as caught:
        reader.remove([entry])
    assert caught.value.code is Code.NOT_READABLE
    reader.close()


def test_the_library_is_for_its_user_alone(library: Library, path: Path) -> None:
    add(library)
    files = list(path.parent.iterdir())
    assert len(files) == 3  # the file, -wal and -shm
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)


def test_a_killed_window_loses_nothing_it_has_stored(library: Library, path: Path) -> None:
    entry = add(library)
    library.close()
    script = (
        "import itertools, sys; from pathlib import Path\n"
        "from engine.library import Library; from engine.types import Segment\n"
        "library = Library.open(Path(sys.argv[1]), writable=True)\n"
        "for n in itertools.count():\n"
        "    library.segments.append(int(sys.argv[2]), Segment(n * 1_000, n * 1_000 + 900, f'sentence {n}'))\n"
        "    print(n, flush=True)"
    )
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {os.getcwd()!r})\n{script}"]  # noqa: PTH109
    with subprocess.Popen([*command, path, str(entry)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        while int(writer.stdout.readline()) < 20:
            pass
        writer.send_signal(signal.SIGKILL)
        said = [int(line) for line in writer.stdout.read().split()]
    again = Library.open(path, writable=True)
    stored = again.segments.read(entry)
    again.close()
    assert stored == [plain(number) for number in range(len(stored))]
    assert len(stored) > max(said, default=20)


def test_twenty_thousand_segments_load_at_once(library: Library) -> None:
    entry = add(library)
    with library._file.transaction(write=True) as sql:
        sql.executemany(
            """INSERT INTO segments (entry, start, "end", text, folded, words)
            VALUES (?, ?, ?, 'six words that were once said', '', ?)""",
            [(entry, n, n + 1, b'[{"start":0,"end":1,"text":" word"}]') for n in range(20_000)],
        )
    start = time.perf_counter()
    assert len(library.segments.read(entry)) == 20_000
    assert time.perf_counter() - start < 3  # about 0.2 s; a loaded machine may take tenfold
