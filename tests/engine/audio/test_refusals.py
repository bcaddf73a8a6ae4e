"""What is no recording ends in one code and one sentence, at once."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.audio import source as source_module
from engine.audio.media import open_media
from engine.errors import Code, EngineError

NOBODY = 65534
AS_NOBODY = f"""
import os, sys
from engine.audio.media import open_media
from engine.errors import EngineError
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
try:
    with open_media(sys.argv[1]) as media:
        print(sum(len(block.samples) for block in media.blocks()))
except EngineError as error:
    print(error.code)
"""


def refused(path, track=None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        list(open_media(path, track).blocks())
    assert str(caught.value).count("\n") == 0
    return caught.value


def as_nobody(path: Path) -> str:
    run = subprocess.run([sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.fixture
def open_to_all(tmp_path):
    """A folder that any user can reach, whoever runs the tests."""
    folder = tmp_path
    while folder != folder.parent and folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & stat.S_IXOTH:
        folder.chmod(0o755)
        folder = folder.parent
    return tmp_path


@pytest.mark.parametrize("path", ["/no/such/file.mp3", "\0", b"\xff\xfe\x00", "x" * 5000])
def test_a_file_that_is_not_there_is_not_found(path):
    assert refused(path).code in {Code.NOT_FOUND, Code.NOT_READABLE}


def test_a_file_inside_a_file_is_not_found(make):
    assert refused(make("16_bit.wav") / "inside.wav").code is Code.NOT_FOUND


def test_a_dangling_link_is_not_found(tmp_path):
    link = tmp_path / "link.wav"
    link.symlink_to("gone.wav")
    assert refused(link).code is Code.NOT_FOUND


def test_a_folder_is_a_folder(tmp_path):
    folder = tmp_path / "album.mp3"
    folder.mkdir()
    assert refused(folder).code is Code.IS_FOLDER


@pytest.mark.parametrize("name", ["empty.wav", "empty.mp3", "empty"])
def test_a_file_without_bytes_is_empty(name, tmp_path):
    (tmp_path / name).touch()
    assert refused(tmp_path / name).code is Code.EMPTY_FILE


def test_a_pipe_is_refused_without_waiting(tmp_path):
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    error = refused(pipe)
    assert error.code is Code.NOT_MEDIA
    assert "pipe" in error.detail


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_refused(device):
    assert refused(device).code is Code.NOT_MEDIA


TEXTS = {
    "plain.mp3": b"Dear diary,\nnothing was recorded today.\n" * 40,
    "one_letter.wav": b"a",
    "utf16.txt": "Notes of the meeting\r\n".encode("utf-16") * 30,
    "page.html": b"<!doctype html><html><body>audio</body></html>\n",
    "data.json": b'["a", "b", {"c": [1, 2, 3]}]\n' * 20,
    "table.csv": b"name,start,end\nAnn,1,2\n" * 20,
    "cues.srt": b"1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nAgain\n",
    "cues.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n",
    "song.lrc": b"[ti:Song]\n[00:01.00]la\n[00:02.00]la la\n",
    "colours.ans": b"\x1b[31mred\x1b[0m\r\n" * 50,
    "paper.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer\n<<>>\n%%EOF\n" * 5,
    "zeros.wav": bytes(50_000),
    "program": b"\x7fELF\x02\x01\x01" + bytes(9) + bytes(range(256)) * 40,
    "archive.zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(255, -1, -1)) * 20,
    "drawing.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    "samples_without_header.wav": bytes((7 * n * n // 3) % 251 for n in range(40_000)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_holds_no_sound_is_no_media(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(TEXTS[name])
    assert refused(path).code is Code.NOT_MEDIA


@pytest.mark.parametrize("name", ["p.png", "p.jpg", "p.gif", "p.webp", "p.bmp", "p.tiff"])
def test_a_picture_is_no_media(name, make):
    path = make(name, "-f", "lavfi", "-i", "testsrc=d=1:r=1:s=64x64", "-frames:v", "1")
    assert refused(path).code is Code.NOT_MEDIA


def test_a_moving_gif_is_no_media(make):
    assert refused(make("moving.gif", "-f", "lavfi", "-i", "testsrc=d=2:r=5:s=64x64")).code is Code.NOT_MEDIA


@pytest.mark.parametrize("name", ["silent.mp4", "silent.mkv", "silent.webm", "silent.avi"])
def test_a_video_without_sound_has_no_audio(name, make):
    assert refused(make(name, "-f", "lavfi", "-i", "testsrc=d=1:r=5:s=64x64")).code is Code.NO_AUDIO


def test_what_only_looks_like_video_by_chance_is_no_media(tmp_path):
    path = tmp_path / "table.mo"  # the start code of MPEG-4 video, again and again
    path.write_bytes(b"\0\0\1\xb0\xf5\0\0\1\xb5\x09\0\0\1\0\0\0\1\x20\0\x84\x40\0\0\1\xb6" * 300)
    assert refused(path).code is Code.NOT_MEDIA


def test_a_header_without_samples_has_no_audio(make, tmp_path):
    path = tmp_path / "header.wav"
    path.write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes()[:44])
    assert refused(path).code is Code.NO_AUDIO


def test_a_track_that_is_not_there_is_named(make):
    path = make("16_bit.wav", "-c:a", "pcm_s16le")
    for track in (0, 2, -1):
        error = refused(path, track)
        assert error.code is Code.NO_SUCH_TRACK
        assert error.detail == "It has one track."


def test_a_kind_of_sound_without_a_decoder_is_named(make, tmp_path):
    data = make("vorbis.mka", "-c:a", "libvorbis").read_bytes()
    assert data.count(b"A_VORBIS") == 1
    path = tmp_path / "future.mka"
    path.write_bytes(data.replace(b"A_VORBIS", b"A_FUTURE"))
    assert refused(path).code is Code.NO_DECODER
    assert refused(path, 1).code is Code.NO_DECODER


def test_a_file_of_another_user_may_not_be_read(make, open_to_all):
    path = open_to_all / "private.wav"
    path.write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    assert as_nobody(path) == "48000"
    path.chmod(0)
    assert as_nobody(path) == Code.NOT_READABLE


def test_a_folder_that_may_not_be_written_to_is_enough(make, open_to_all):
    folder = open_to_all / "archive"
    folder.mkdir()
    path = folder / "talk.wav"
    path.write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    before = path.stat()
    path.chmod(0o444)
    folder.chmod(0o555)
    assert as_nobody(path) == "48000"
    assert [entry.name for entry in folder.iterdir()] == ["talk.wav"]
    after = path.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)


PLAYLISTS = {
    "playlist.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{url}\n#EXT-X-ENDLIST\n",
    "joined.ffconcat": "ffconcat version 1.0\nfile '{url}'\n",
    "neighbour.ffconcat": "ffconcat version 1.0\nfile talk.wav\n",
    "session.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio {port} RTP/AVP 0\n",
    "stream.mpd": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period>'
    '<AdaptationSet mimeType="audio/mp4"><Representation id="1"><BaseURL>{url}</BaseURL></Representation>'
    "</AdaptationSet></Period></MPD>",
}


@pytest.mark.parametrize("name", PLAYLISTS)
@pytest.mark.parametrize("suffix", ["", ".wav"])
def test_a_playlist_opens_neither_the_network_nor_another_file(name, suffix, make, tmp_path):
    (tmp_path / "talk.wav").write_bytes(make("16_bit.wav", "-c:a", "pcm_s16le").read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.2)
        path = tmp_path / (name + suffix)
        path.write_text(PLAYLISTS[name].format(url=f"http://127.0.0.1:{port}/a.ts", port=port))
        assert refused(path).code is Code.NOT_MEDIA
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_drive_that_goes_away_is_said_and_not_taken_for_the_end(make, monkeypatch):
    # Nothing in a plain test can pull a drive, so the one call that would fail is made to.
    path = make("16_bit.wav", "-c:a", "pcm_s16le", seconds=3)

    class Pulled:
        def __init__(self, file):
            self.file, self.left = file, 300_000

        def __getattr__(self, name):
            return getattr(self.file, name)

        def read(self, size):
            self.left -= size
            if self.left < 0:
                raise OSError(5, "Input/output error")
            return self.file.read(size)

    real = open
    monkeypatch.setattr(source_module, "open", lambda *a, **k: Pulled(real(*a, **k)), raising=False)
    error = refused(path)
    assert error.code is Code.NOT_READABLE
    assert "Input/output error" in error.detail


def test_a_closed_file_leaves_nothing_open(make):
    path = make("16_bit.wav", "-c:a", "pcm_s16le")
    fds = Path("/proc/self/fd")
    threads = threading.active_count()
    before = len(list(fds.iterdir()))
    for _ in range(3):
        with open_media(path) as media:
            next(media.blocks())
        with pytest.raises(EngineError):
            open_media(path, 7)
    assert len(list(fds.iterdir())) == before
    assert threading.active_count() == threads
