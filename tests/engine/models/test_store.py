"""Models kept in one folder, and how we know that they are still what was put there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.models import catalog
from engine.models.catalog import CATALOG, CatalogEntry, can_translate, find, human_size, is_multilingual, url
from engine.models.importers import import_model
from engine.models.store import ModelStore, is_model_name

if TYPE_CHECKING:
    from tests.engine.small_models import Small

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")


def fails(code: Code) -> pytest.RaisesExc[EngineError]:
    return pytest.RaisesExc(EngineError, check=lambda error: error.code is code)


def touch(path: Path) -> None:
    """Give the file another time, without changing it."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))


def patch(path: Path, offset: int = -100) -> None:
    """Change one byte of the file, which stays whole to a reader of headers."""
    with path.open("r+b") as file:
        file.seek(offset, 2)
        byte = file.read(1)
        file.seek(offset, 2)
        file.write(bytes([byte[0] ^ 1]))


def test_the_catalogue_knows_what_its_models_can() -> None:
    assert len(CATALOG) == 14
    assert len({entry.sha256 for entry in CATALOG}) == 14
    assert all(len(entry.sha256) == 64 for entry in CATALOG)
    assert {entry.name for entry in CATALOG if not entry.multilingual} == {
        "tiny.en",
        "base.en",
        "small.en",
        "medium.en",
    }
    assert not can_translate("large-v3-turbo")
    assert not can_translate("large-v3-turbo-q5_0")
    assert not can_translate("tiny.en")
    assert can_translate("large-v3")
    assert can_translate("a model of mine")
    assert is_multilingual("a model of mine")
    assert not is_multilingual("base.en")


def test_a_file_is_downloaded_from_its_revision_or_from_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    base = find("base")
    assert base
    revision = "5359861c739e955e79d9a303bcbc70fb988958b1"
    assert url(base) == f"https://huggingface.co/ggerganov/whisper.cpp/resolve/{revision}/ggml-base.bin"
    monkeypatch.setenv("SOTTOVOCE_MODELS_URL", "https://mirror.example/whisper/")
    assert url(base) == "https://mirror.example/whisper/ggml-base.bin"
    assert url(base, "https://other.example") == "https://other.example/ggml-base.bin"


def test_sizes_are_spelled_as_disks_are_sold() -> None:
    sizes = {0: "0 kB", 1499: "1 kB", 77_691_713: "78 MB", 999_400_000: "999 MB", 999_600_000: "1.0 GB"}
    assert {size: human_size(size) for size in sizes} == sizes
    assert human_size(3_095_033_483) == "3.1 GB"


def test_an_imported_model_is_found_by_its_name(store: ModelStore, small_file: Path) -> None:
    stored = import_model(small_file, store, "mein Modell ☃")
    assert store.list() == (stored,)
    assert store.path("mein Modell ☃") == stored.path == store.folder / "ggml-mein Modell ☃.bin"
    assert store.resolve("mein Modell ☃") == stored.path
    assert store.get("mein Modell ☃") == stored
    assert (stored.origin, stored.bytes, stored.multilingual) == ("import", small_file.stat().st_size, False)
    assert stored.source == str(small_file)
    assert store.verify("mein Modell ☃") == stored


def test_models_are_listed_in_the_order_of_the_catalogue(store: ModelStore, small_file: Path) -> None:
    for name in ("zebra", "small", "tiny", "ähnlich", "base.en"):
        shutil.copy(small_file, store.file(name))
    assert [model.name for model in store.list()] == ["tiny", "base.en", "small", "zebra", "ähnlich"]
    assert {model.origin for model in store.list()} == {"found"}
    assert [model.multilingual for model in store.list()] == [True, False, True, True, True]


def test_what_is_no_model_is_not_listed(store: ModelStore) -> None:
    (store.folder / "ggml-folder.bin").mkdir()
    (store.folder / "notes.txt").touch()
    (store.folder / "ggml-.bin").touch()
    (store.folder / "ggml-dangling.bin").symlink_to("nowhere")
    Path(os.fsdecode(os.fsencode(store.folder) + b"/ggml-\xff.bin")).touch()
    assert store.list() == ()
    assert ModelStore(store.folder / "not there").list() == ()


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "..\\x",
        "/etc/passwd",
        "a\0b",
        "a\nb",
        "C:x",
        "x ",
        " x",
        ".x",
        "x.",
        "?",
        "ä" * 76,
        "\udcff",
    ],
)
def test_a_name_does_not_lead_out_of_the_folder(store: ModelStore, small_file: Path, name: str) -> None:
    assert not is_model_name(name)
    for action in (store.file, store.path, store.verify, store.remove, store.get, store.lock):
        with fails(Code.MODEL_UNKNOWN):
            action(name)
    if name:
        with fails(Code.MODEL_UNKNOWN):
            import_model(small_file, store, name)
    assert list(store.folder.iterdir()) == []


def test_a_missing_model_of_the_catalogue_says_how_to_get_it(store: ModelStore) -> None:
    for action in (store.path, store.resolve, store.verify, store.remove):
        with fails(Code.MODEL_MISSING) as caught:
            action("small")
        assert caught.value.detail == "small (488 MB) can be downloaded: sottovoce models download small"


def test_an_unknown_name_is_answered_with_names_that_are_near(store: ModelStore, small_file: Path) -> None:
    import_model(small_file, store, "smalltalk")
    with fails(Code.MODEL_UNKNOWN) as caught:
        store.resolve("smal")
    assert caught.value.detail == "'smal'; did you mean small or small.en or smalltalk?"
    for nonsense in ("Wörterbuch", "x" * 5000, "a\0b"):
        with fails(Code.MODEL_UNKNOWN):
            store.resolve(nonsense)


def test_a_path_is_read_through_and_becomes_absolute(
    store: ModelStore, small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copy(small_file, tmp_path / "模型 é.bin"))
    monkeypatch.chdir(tmp_path)
    assert store.resolve("模型 é.bin") == store.resolve("./模型 é.bin") == store.resolve(str(copy)) == copy
    copy.write_text("not a model at all")
    with fails(Code.MODEL_DAMAGED):
        store.resolve("./模型 é.bin")
    with fails(Code.MODEL_MISSING):
        store.resolve("./not there.bin")
    with fails(Code.MODEL_MISSING):
        store.resolve("/nul\0byte")
    with fails(Code.NOT_READABLE):
        store.resolve("./" + "x" * 5000)


def test_a_name_means_the_model_even_where_a_file_is_called_so(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small").write_text("a file of the user's")
    with fails(Code.MODEL_MISSING):
        store.resolve("small")


def test_a_faster_whisper_folder_says_that_it_must_be_imported(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    with fails(Code.MODEL_DAMAGED) as caught:
        store.resolve(str(tmp_path))
    assert f'sottovoce models import "{tmp_path}"' in caught.value.detail


def test_a_changed_model_is_noticed(store: ModelStore, small_file: Path) -> None:
    path = import_model(small_file, store, "m").path
    patch(path)
    for _ in range(2):
        with fails(Code.MODEL_CHANGED):
            store.path("m")
    patch(path)
    assert store.path("m") == path


def test_a_model_of_another_size_is_noticed(store: ModelStore, small: Small, small_file: Path) -> None:
    small.write(import_model(small_file, store, "m").path, ftype=8)
    with fails(Code.MODEL_CHANGED):
        store.path("m")


def test_a_model_cut_short_is_damaged(store: ModelStore, small_file: Path) -> None:
    path = import_model(small_file, store, "m").path
    os.truncate(path, path.stat().st_size - 1)
    with fails(Code.MODEL_DAMAGED):
        store.path("m")


def test_a_model_is_hashed_again_only_when_its_size_or_time_changed(store: ModelStore, small_file: Path) -> None:
    path = import_model(small_file, store, "m").path
    hashed: list[int] = []
    store.path("m", lambda done, total: hashed.append(done))
    assert hashed == []
    touch(path)
    store.path("m", lambda done, total: hashed.append(done))
    assert hashed[-1] == path.stat().st_size
    hashed.clear()
    store.path("m", lambda done, total: hashed.append(done))
    assert hashed == []


def test_verify_finds_a_change_that_left_size_and_time_alone(store: ModelStore, small_file: Path) -> None:
    path = import_model(small_file, store, "m").path
    before = path.stat()
    patch(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.path("m") == path
    with fails(Code.MODEL_CHANGED):
        store.verify("m")


def test_verify_can_be_cancelled_and_shows_how_far_it_is(store: ModelStore, small_file: Path) -> None:
    size = import_model(small_file, store, "m").bytes
    seen: list[tuple[int, int]] = []
    store.verify("m", lambda done, total: seen.append((done, total)))
    assert seen[-1] == (size, size)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.verify("m", stop)
    assert store.verify("m").bytes == size


def test_a_model_put_there_by_hand_becomes_an_import_when_it_is_used(store: ModelStore, small_file: Path) -> None:
    path = Path(shutil.copy(small_file, store.file("von Hand")))
    assert store.list()[0].origin == "found"
    assert store.path("von Hand") == path
    stored = store.list()[0]
    assert (stored.origin, stored.source) == ("import", "found in the models folder")
    patch(path)
    with fails(Code.MODEL_CHANGED):
        store.path("von Hand")


def test_a_bad_file_put_there_by_hand_gets_no_record(store: ModelStore) -> None:
    store.file("text").write_text("hello")
    with fails(Code.MODEL_DAMAGED):
        store.path("text")
    assert [file.name for file in store.folder.iterdir()] == ["ggml-text.bin"]


def test_the_catalogues_own_file_is_known_however_it_came(
    store: ModelStore, small_file: Path, entry: CatalogEntry
) -> None:
    shutil.copy(small_file, store.file("tiny"))
    assert not store.list()[0].official
    store.path("tiny")
    assert store.list()[0].official
    assert store.list()[0].sha256 == entry.sha256


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"origin": "elsewhere"}', b"\xff", b"{}" * 100_000])
def test_a_record_that_cannot_be_read_is_made_anew(store: ModelStore, small_file: Path, record: bytes) -> None:
    stored = import_model(small_file, store, "m")
    stored.path.with_suffix(".json").write_bytes(record)
    assert store.list()[0].origin == "found"
    assert store.path("m") == stored.path
    assert store.list()[0].sha256 == stored.sha256


def test_a_download_must_be_what_the_catalogue_names_whatever_its_record_says(
    store: ModelStore, small_file: Path, entry: CatalogEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(small_file, store.file("tiny"))
    store.register("tiny", "download", "https://mirror.example", entry.sha256)
    assert store.path("tiny")
    monkeypatch.setattr(catalog, "CATALOG", (replace(entry, sha256="0" * 64),))
    with fails(Code.MODEL_CHANGED):
        store.path("tiny")


def test_a_removed_model_is_gone_with_all_that_belongs_to_it(store: ModelStore, small_file: Path) -> None:
    import_model(small_file, store, "tiny")
    import_model(small_file, store, "tiny.en")
    entry = find("tiny")
    assert entry
    store.part(entry).touch()
    store.remove("tiny")
    kept = {"ggml-tiny.lock", "ggml-tiny.en.lock", "ggml-tiny.en.bin", "ggml-tiny.en.json"}
    assert {file.name for file in store.folder.iterdir()} == kept
    with fails(Code.MODEL_MISSING):
        store.remove("tiny")


def test_a_model_that_another_process_works_on_is_busy(store: ModelStore, small_file: Path) -> None:
    import_model(small_file, store, "m")
    script = (
        "import sys; from pathlib import Path; from engine.models.store import ModelStore\n"
        "with ModelStore(Path(sys.argv[1])).lock('m'): print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(store.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        assert child.stdout.readline() == "locked\n"
        with fails(Code.MODEL_BUSY):
            store.remove("m")
        assert store.path("m"), "reading needs no lock"
        child.kill()
    store.remove("m")


@pytest.fixture
def read_only(tmp_path: Path, small_file: Path) -> Iterator[ModelStore]:
    """A store on a disk that cannot be written: one imported model whose time changed, one put there by hand."""
    disk = tmp_path / "disk é"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], check=True)
    store = ModelStore(disk)
    touch(import_model(small_file, store, "m").path)
    shutil.copy(small_file, store.file("hand"))
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    yield store
    subprocess.run(["umount", disk], check=True)


@as_root
def test_models_on_a_read_only_disk_can_be_used(read_only: ModelStore, small_file: Path) -> None:
    for name in ("m", "hand"):
        for _ in range(2):
            assert read_only.path(name).exists()
    assert read_only.verify("hand").sha256 == read_only.verify("m").sha256
    for action in (lambda: read_only.remove("m"), lambda: import_model(small_file, read_only, "new")):
        with fails(Code.NOT_WRITABLE):
            action()


def test_listing_models_does_not_load_numpy_or_the_network(store: ModelStore, small_file: Path) -> None:
    import_model(small_file, store, "m")
    script = (
        "import sys; from pathlib import Path\n"
        "import engine.models.starter; from engine.models.store import ModelStore\n"
        "assert [m.name for m in ModelStore(Path(sys.argv[1])).list()] == ['m']\n"
        "assert not {'numpy', 'httpx', 'truststore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, store.folder], check=True)


def test_a_record_can_be_read_by_people(store: ModelStore, small_file: Path) -> None:
    stored = import_model(small_file, store, "m")
    record = json.loads(stored.path.with_suffix(".json").read_bytes())
    assert record["origin"] == "import"
    assert record["source"] == str(small_file)
    assert record["sha256"] == stored.sha256
    assert record["date"].endswith("+00:00")
