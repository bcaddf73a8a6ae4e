"""Settings survive bad values, bad files and full disks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import Settings, Values

CHANGED = Values(
    model="small",
    language="de",
    task="translate",
    device="cpu",
    backend="whispercpp",
    microphone="headset",
    channel=2,
    export_folder="/exports é",
    export_format="vtt",
    export_preset="bbc",
    dictation="pause",
    clean_dictation=True,
    held_key="Ctrl+Alt+Space",
    held_key_types=False,
    caption_size=350,
    caption_geometry=b"\x01",
    details_open=True,
    geometry=b"\x00\xff\x01",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system without a free byte; only root can make one."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def change_all(settings: Settings) -> None:
    settings.change(model="small", language="de", task="translate", device="cpu", backend="whispercpp")
    settings.change(microphone="headset", channel=2, dictation="pause", clean_dictation=True)
    settings.change(held_key="Ctrl+Alt+Space", held_key_types=False)
    settings.change(caption_size=350, caption_geometry=b"\x01")
    settings.change(
        export_folder="/exports é",
        export_format="vtt",
        export_preset="bbc",
        details_open=True,
        geometry=b"\x00\xff\x01",
    )


def test_every_setting_is_there_at_the_next_start(file: Path) -> None:
    change_all(Settings(file))
    assert Settings(file).values == CHANGED


def test_the_first_start_has_defaults_and_writes_nothing(file: Path) -> None:
    settings = Settings(file)
    assert settings.values == Values()
    settings.change(model="base")
    assert not file.exists()


@pytest.mark.parametrize("name", list(Values.__dataclass_fields__))
@pytest.mark.parametrize("bad", [None, 3.5, ["x"], {"a": 1}])
def test_a_bad_value_costs_only_itself(file: Path, name: str, bad: object) -> None:
    change_all(Settings(file))
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: bad}))
    values = Settings(file).values
    for field in Values.__dataclass_fields__:
        assert getattr(values, field) == getattr(Values() if field == name else CHANGED, field)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"model": "sm', b"[" * 100_000])
def test_a_file_that_is_no_settings_file_gives_the_defaults(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    settings = Settings(file)
    assert settings.values == Values()
    settings.change(model="tiny")
    assert Settings(file).values == Values(model="tiny")


def test_what_another_version_remembers_is_kept(file: Path) -> None:
    file.write_text('{"model": "small", "of_tomorrow": {"a": [1, 2]}}')
    Settings(file).change(language="fr")
    assert json.loads(file.read_text())["of_tomorrow"] == {"a": [1, 2]}
    assert Settings(file).values == Values(model="small", language="fr")


def test_options_follow_the_settings(file: Path) -> None:
    settings = Settings(file)
    change_all(settings)
    options = settings.options()
    assert (options.model, options.language, options.task) == ("small", "de", "translate")
    assert (options.device, options.backend, options.words) == ("cpu", "whispercpp", True)


def test_a_full_disk_is_said_and_the_old_file_stays(full_disk: Path) -> None:
    file = full_disk / "settings.json"
    settings = Settings(file)
    said = said_by(settings)
    settings.change(model="small")
    old = file.read_bytes()
    fill(full_disk)
    settings.change(export_folder="/x" * 3000)
    assert "The disk is full." in said[0]
    assert file.read_bytes() == old
    assert settings.values.model == "small"


def fill(folder: Path) -> None:
    """Write until nothing fits any more."""
    try:
        with (folder / "rest").open("wb", buffering=0) as rest:
            while rest.write(b"x" * 512):
                pass
    except OSError:
        return


def test_a_change_counts_even_when_it_cannot_be_written(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "no such folder" / "settings.json")
    said = said_by(settings)
    settings.change(model="small")
    assert settings.values.model == "small"
    assert said[0].startswith("The settings could not be saved.")


def said_by(settings: Settings) -> list[str]:
    """What the settings say from now on."""
    said: list[str] = []
    settings.said.connect(said.append)
    return said
