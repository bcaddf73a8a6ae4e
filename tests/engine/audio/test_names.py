"""A name is only a name: no character in it changes what is opened."""

from __future__ import annotations

import json
import os

import pytest

NAMES = [
    "two  spaces .wav",
    " leading and trailing ",
    "имя – 名前 – ñü – שם.wav",
    "🎙️ interview 👩‍💻.wav",
    "line\nbreak\tand tab.wav",
    "-i --help.wav",
    "'single' \"double\" `back`.wav",
    "a;b & $(touch owned) | c.wav",
    "frame%03d 100%s %n.wav",
    "e\u0301 decomposed.wav",
    "\u00e9 composed.wav",
    ".hidden",
    "SHOUT.WAV",
    "no_suffix",
    "picture.png",
    "film.mp4.txt",
    "[a-z]*?.wav",
    "\u202egpj.wav",
    "x" * 251 + ".wav",
    "http:",
    "concat:a.wav|b.wav",
    "data:audio,wav",
    "file:a.wav",
    "pipe:0",
    "subfile,,start,0,end,10,,:a.wav",
    "#EXTM3U.m3u8",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_opens(name, make, listen, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    assert listen(tmp_path / name).ms == 3000
    monkeypatch.chdir(tmp_path)
    assert listen(name).ms == 3000
    assert listen(os.fsencode(name)).ms == 3000
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_path_that_looks_like_an_address_is_a_path(make, listen, tmp_path, monkeypatch):
    folder = tmp_path / "http:" / "example.org"
    folder.mkdir(parents=True)
    (folder / "talk.wav").write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert listen("http://example.org/talk.wav").ms == 3000


def test_a_name_that_is_no_text_opens(make, listen, tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9 \xff\xfe.wav"
    with open(path, "wb") as file:
        file.write(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    assert listen(path).ms == 3000
    assert listen(os.fsdecode(path)).ms == 3000


def test_a_folder_may_be_called_like_a_file(make, listen, tmp_path):
    (tmp_path / "folder.wav").mkdir()
    path = tmp_path / "folder.wav" / "inside.wav"
    path.write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    assert listen(path).ms == 3000


@pytest.mark.parametrize("name", ["sound.wav", "sound.mp3", "sound.txt", "sound.png", "sound"])
@pytest.mark.parametrize("kind", ["constant.mp3", "opus.ogg"])
def test_content_decides_not_the_name(name, kind, make, listen, tmp_path):
    made = make(kind, *(["-b:a", "128k"] if kind == "constant.mp3" else ["-c:a", "libopus"]))
    (tmp_path / name).write_bytes(made.read_bytes())
    assert abs(listen(tmp_path / name).ms - 3000) <= 2


@pytest.mark.real
def test_every_odd_name_opens(shared_audio, make, listen, tmp_path):
    names = json.loads((shared_audio / "odd" / "odd-names.json").read_text("utf-8"))
    assert names
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
        assert listen(path).ms == 3000
