"""Files are written whole or not at all, and an old file is never harmed."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import files
from engine.errors import Code, EngineError
from engine.files import UNFINISHED, atomic_file, atomic_write, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
BIG = b"n" * 3_000_000  # more than the buffer and more than the small disk
NAMES = [
    "é decomposed e\u0301.txt",
    "עברית 日本語 🎉.txt",
    "a $b 'c' \"d\" %e\nf.txt",
    "-rf",
    os.fsdecode(b"not utf-8 \xff\xfe.txt"),
    "n" * 255,
]

as_root = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may mount and change user")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(UNFINISHED)]


def fails(code: Code, path: Path, action: Callable[[], None]) -> EngineError:
    """`action` fails with `code`, names the file, and leaves nothing beside it."""
    with pytest.raises(EngineError) as caught:
        action()
    assert caught.value.code is code
    assert shown(path) in caught.value.detail
    assert not path.parent.is_dir() or leftovers(path.parent) == []
    return caught.value


def run_python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", script, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_written_and_replaced(tmp_path: Path, name: str) -> None:
    atomic_write(tmp_path / name, b"one")
    atomic_write(tmp_path / name, b"two", overwrite=True)
    assert (tmp_path / name).read_bytes() == b"two"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_new_file_has_the_permissions_any_program_would_give(tmp_path: Path) -> None:
    atomic_write(tmp_path / "ours", b"")
    (tmp_path / "theirs").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.touch(mode=0o600)
    atomic_write(path, b"new", overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    atomic_write(tmp_path / "link", b"one")
    atomic_write(tmp_path / "link", b"two", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"two"


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(b"old")
    fails(Code.ALREADY_THERE, path, lambda: atomic_write(path, b"new"))
    fails(Code.ALREADY_THERE, tmp_path, lambda: atomic_write(tmp_path, b"new"))
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talk.srt"
    if not links:
        monkeypatch.setattr(os, "link", _fault(errno.EPERM))

    def race() -> None:
        with atomic_file(path) as file:
            file.write(b"ours")
            path.write_bytes(b"theirs")

    fails(Code.ALREADY_THERE, path, race)
    assert path.read_bytes() == b"theirs"


def test_a_file_system_without_links_gets_the_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _fault(errno.EPERM))
    atomic_write(tmp_path / "talk.srt", b"whole")
    assert (tmp_path / "talk.srt").read_bytes() == b"whole"
    assert leftovers(tmp_path) == []


def test_an_exception_in_the_block_changes_nothing_and_passes_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"old")

    def copy() -> None:
        with atomic_file(path, overwrite=True) as file:
            file.write(BIG)
            (tmp_path / "source that is gone").read_bytes()

    with pytest.raises(FileNotFoundError):
        copy()
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    fails(Code.NOT_WRITABLE, pipe, lambda: atomic_write(pipe, b"new", overwrite=True))
    fails(Code.NOT_WRITABLE, tmp_path, lambda: atomic_write(tmp_path, b"new", overwrite=True))
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_missing_folder_and_a_long_name_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing" / "a", tmp_path / "file" / "a", tmp_path / ("n" * 256)):
        fails(Code.NOT_WRITABLE, path, lambda path=path: atomic_write(path, b""))


def test_a_detail_can_always_be_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff") / "a"
    error = fails(Code.NOT_WRITABLE, path, lambda: atomic_write(path, b""))
    assert str(error).encode().endswith(rb"\xff/a: No such file or directory")


@as_root
def test_a_full_disk_leaves_the_old_file(small_disk: Path) -> None:
    path = small_disk / "talk.srt"
    atomic_write(path, b"old")
    fails(Code.DISK_FULL, path, lambda: atomic_write(path, BIG, overwrite=True))
    assert path.read_bytes() == b"old"
    path = small_disk / "new.srt"
    fails(Code.DISK_FULL, path, lambda: atomic_write(path, BIG))
    assert not path.exists()


@as_root
def test_a_full_disk_is_noticed_when_the_last_buffer_is_written(small_disk: Path) -> None:
    atomic_write(small_disk / "filler", b"f" * 1_000_000)
    path = small_disk / "talk.srt"
    fails(Code.DISK_FULL, path, lambda: atomic_write(path, b"n" * 900_000))


@as_root
def test_a_read_only_disk_is_said(small_disk: Path) -> None:
    path = small_disk / "talk.srt"
    atomic_write(path, b"old")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    fails(Code.NOT_WRITABLE, path, lambda: atomic_write(path, b"new", overwrite=True))
    fails(Code.NOT_WRITABLE, small_disk / "new", lambda: atomic_write(small_disk / "new", b"new"))
    assert path.read_bytes() == b"old"


def test_a_file_size_limit_is_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(b"old")
    script = (
        "import resource, sys; from pathlib import Path; from engine.files import atomic_write\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "atomic_write(Path(sys.argv[1]), b'n' * 3_000_000, overwrite=True)"
    )
    result = run_python(script, path)
    assert f"The disk is full. {path}: File too large" in result.stderr
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


@as_root
@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o666), (0o777, 0o644)])
def test_another_users_folder_and_file_are_not_written(folder_mode: int, file_mode: int) -> None:
    script = (
        "import os, sys; from pathlib import Path; from engine.files import atomic_write\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "atomic_write(Path(sys.argv[1]), b'new', overwrite=True)"
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        Path(folder).chmod(folder_mode)
        path = Path(folder) / "talk.srt"
        path.write_bytes(b"old")
        path.chmod(file_mode)
        result = run_python(script, path)
        assert f"The file cannot be written there. {path}: Permission denied" in result.stderr
        assert path.read_bytes() == b"old"
        assert leftovers(Path(folder)) == []


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(b"old")
    script = (
        "import sys, time; from pathlib import Path; from engine.files import atomic_file\n"
        "with atomic_file(Path(sys.argv[1]), overwrite=True) as file:\n"
        "    file.write(b'n' * 3_000_000); file.flush(); print('half way', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, path], cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"half way\n"
        writer.send_signal(signal.SIGKILL)
    assert path.read_bytes() == b"old"
    assert len(leftovers(tmp_path)) == 1  # hidden, and its name says what it is
    atomic_write(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize(
    ("call", "overwrite"),
    [("open", True), ("open", False), ("fsync", True), ("fsync", False), ("replace", True), ("link", False)],
)
def test_a_fault_at_any_call_is_said_and_leaves_the_old_file(
    tmp_path: Path, call: str, overwrite: bool, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talk.srt"
    if overwrite:
        path.write_bytes(b"old")
    monkeypatch.setattr(*((files, "_Output") if call == "open" else (os, call)), _fault(number))
    code = Code.NOT_WRITABLE if number == errno.EIO else Code.DISK_FULL
    error = fails(code, path, lambda: atomic_write(path, b"new", overwrite))
    assert os.strerror(number) in error.detail
    assert path.read_bytes() == b"old" if overwrite else not path.exists()


def test_a_folder_that_cannot_be_synced_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", _fault(errno.EACCES))
    atomic_write(tmp_path / "talk.srt", b"whole")
    assert (tmp_path / "talk.srt").read_bytes() == b"whole"


def _fault(number: int) -> Callable[..., None]:
    def raise_it(*_arguments: object, **_named: object) -> None:
        raise OSError(number, os.strerror(number))

    return raise_it
