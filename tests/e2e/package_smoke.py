"""The packaged program as a stranger has it: `make package-smoke`, after `make package`.

It is unpacked and installed by its own script for an ordinary user, in a folder with a space and a name that is not
Latin, with an empty home and an empty PATH, so that there is no Python. The figures go to build/package/smoke.txt.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pysubs2
import pytest
from Xlib import X
from Xlib.display import Display

from tests.conftest import ROOT
from tests.e2e.screen import Screen, wait_for
from tests.e2e.window import ended, entries, segments
from tests.virtual_mic import VirtualMicrophone

NOBODY = 65534
MADE = ROOT / "build" / "package"
# Generous, as a machine may be busy; what is promised is a quarter of it, and what was measured is in the report.
PAINT_CEILING_S, READY_CEILING_S = 8.0, 2.0
WORDS = "ask not what your country can do for you"


@dataclass(frozen=True)
class Installed:
    """The program in a stranger's home."""

    home: Path

    @property
    def program(self) -> Path:
        return self.home / ".local" / "share" / "sottovoce-program"

    @property
    def data(self) -> Path:
        return self.home / ".local" / "share" / "Sottovoce"

    def command(self, *words: str | Path, **more: str) -> list[str]:
        """As that user, with no variable of ours but those in `more`."""
        environment = {"HOME": self.home, "PATH": self.home / "nothing", "LANG": "C.UTF-8", **more}
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        variables = [f"{name}={value}" for name, value in environment.items()]
        return [*user, "env", "-i", *variables, *map(str, words)]

    def run(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        command = self.command(self.program / "sottovoce", *words, **more)
        return subprocess.run(command, cwd=self.home, capture_output=True, text=True, check=False, timeout=120)

    @contextmanager
    def started(self, *words: str | Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program that is ended here, if it has not ended by then."""
        pipe, command = subprocess.PIPE, self.command(*words, **more)
        with subprocess.Popen(command, cwd=self.home, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, str]]:
    """What was measured, by what it is."""
    figures: dict[str, str] = {}
    yield figures
    text = "".join(f"{name:<44} {value}\n" for name, value in figures.items())
    (MADE / "smoke.txt").write_text(text, "utf-8")
    print(f"\n{text}", file=sys.__stdout__)


@pytest.fixture(scope="module")
def installed(report: dict[str, str]) -> Iterator[Installed]:
    """Unpacked and installed as that user; the archive must be there."""
    [archive] = (ROOT / "dist").glob("*.tar.zst")
    top = Path(tempfile.mkdtemp(prefix="smoke"))
    home = top / "Zoë 東京"
    for folder in (top, home, home / "nothing", home / "Téléchargements"):
        folder.mkdir(exist_ok=True)
        os.chown(folder, NOBODY, NOBODY)
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", home / "Téléchargements"], check=True)
    here = Installed(home)
    script = home / "Téléchargements" / "sottovoce" / "install.sh"
    subprocess.run(here.command("/bin/sh", script, PATH="/usr/bin:/bin"), check=True, cwd=home)
    shutil.rmtree(script.parent)
    size = sum(file.lstat().st_size for file in here.program.rglob("*") if not file.is_symlink())
    report["size"] = f"{size / 1e6:.0f} MB, as a download {archive.stat().st_size / 1e6:.0f} MB"
    yield here
    shutil.rmtree(top)


@pytest.fixture(scope="module")
def model(installed: Installed, data_with_models: Path) -> Path:
    """A model that the user got as a file."""
    return Path(shutil.copy(data_with_models / "models" / "ggml-tiny.en.bin", installed.home / "modèle.bin"))


@pytest.fixture(scope="module")
def recording(installed: Installed, shared_audio: Path) -> Path:
    source = shared_audio / "speech" / "en_jfk_44k_stereo.flac"
    return Path(shutil.copy(source, installed.home / "discours d'été.flac"))


def source_tree(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "app", *words], capture_output=True, text=True, check=False, timeout=60
    )


def nothing_of_ours_is_in(process: psutil.Process) -> None:
    maps = [line.path for line in process.memory_maps()]
    strangers = [path for path in maps if path.startswith((str(ROOT), sys.prefix, "/usr/lib/python", "/usr/local/lib"))]
    assert strangers == []


def is_painted(screen: Screen) -> bool:
    """Whether the middle of the screen shows text: edges have more shades than an empty window or desktop."""
    display = Display(screen.display)
    try:
        rows = display.screen().root.get_image(200, 300, 880, 200, X.ZPixmap, 0xFFFFFFFF).data
    finally:
        display.close()
    return len(set(memoryview(rows).cast("I"))) > 16


def test_it_has_the_verbs_backends_and_formats_of_the_source_tree(installed: Installed) -> None:
    for words in (["--help"], ["transcribe", "--help"], ["record", "--help"], ["transcribe", "x", "--format", "?"]):
        ours, theirs = source_tree(*words), installed.run(*words)
        assert (theirs.returncode, theirs.stdout, theirs.stderr) == (ours.returncode, ours.stdout, ours.stderr)


def test_a_recording_becomes_subtitles_with_a_model_given_by_path(
    installed: Installed, model: Path, recording: Path, report: dict[str, str]
) -> None:
    began = time.monotonic()
    target = installed.home / "sous-titres.srt"
    done = installed.run("transcribe", recording, "--model", model, "--format", "srt", "--output", target)
    assert done.returncode == 0, done.stderr
    report["a recording of 11 s, with start and self-check"] = f"{time.monotonic() - began:.1f} s"
    assert WORDS in " ".join(cue.text for cue in pysubs2.load(str(target))).lower().replace("\\n", " ")


@pytest.mark.parametrize("backend", ["onnx", "whispercpp", "tract"])
def test_every_backend_of_this_machine_runs(installed: Installed, model: Path, recording: Path, backend: str) -> None:
    done = installed.run("transcribe", recording, "--model", model, "--backend", backend)
    assert done.returncode == 0, done.stderr
    assert WORDS in done.stdout.lower()


def test_a_killed_worker_costs_one_file(installed: Installed, model: Path, recording: Path) -> None:
    second = shutil.copy(recording, installed.home / "deuxième.flac")
    words = ("transcribe", recording, second, "--model", model, "--backend", "onnx")
    with installed.started(installed.program / "sottovoce", *words) as process:
        worker = wait_for(lambda: psutil.Process(process.pid).children(), 20)[0]
        assert Path(worker.exe()) == installed.program / "sottovoce"
        wait_for(lambda: any("onnxruntime" in line.path for line in worker.memory_maps()), 20)
        nothing_of_ours_is_in(worker)
        worker.kill()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "The engine stopped unexpectedly." in err.decode()
    assert out.decode().lower().count(WORDS) == 1


def test_the_engine_is_ready_at_once(installed: Installed, report: dict[str, str]) -> None:
    def seconds() -> float:
        began = time.monotonic()
        with installed.started(installed.program / "sottovoce", "-P", "-m", "engine", "worker") as engine:
            assert engine.stdout
            assert engine.stdin
            assert b'"ready"' in engine.stdout.readline()
            taken = time.monotonic() - began
            engine.stdin.close()
        return taken

    measured = sorted(seconds() for _ in range(5))
    report["engine: start to ready (promised: 0.5 s)"] = (
        f"{statistics.median(measured):.2f} s ({measured[0]:.2f} at best)"
    )
    assert measured[0] < READY_CEILING_S


def test_a_microphone_is_recorded(
    installed: Installed, microphone: VirtualMicrophone, recording: Path, tmp_path: Path
) -> None:
    Path(microphone.env["ALSA_CONFIG_PATH"]).parent.chmod(0o755)
    talk = tmp_path / "talk.wav"
    subprocess.run(["ffmpeg", "-v", "error", "-i", recording, talk], check=True)
    assert "default" in installed.run("devices", **microphone.env).stdout
    player = microphone.play(talk)
    target = installed.home / "micro.wav"
    done = installed.run("record", "--seconds", "4", "--output", target, **microphone.env)
    player.kill()
    player.wait()
    assert done.returncode == 0, done.stderr
    loudness = subprocess.run(
        ["ffmpeg", "-i", target, "-af", "volumedetect", "-f", "null", "-"], capture_output=True, text=True, check=True
    )
    assert float(loudness.stderr.rpartition("max_volume:")[2].split()[0]) > -20


def test_the_window_opens_reads_a_recording_and_survives_its_engine(
    installed: Installed, screen: Screen, model: Path, recording: Path, report: dict[str, str]
) -> None:
    assert installed.run("models", "import", model, "--name", "base").returncode == 0
    began = time.monotonic()
    words = (installed.program / "sottovoce-app", recording)
    with installed.started(*words, DISPLAY=screen.display) as process:
        wait_for(partial(is_painted, screen), 30, every=0.01)
        painted = time.monotonic() - began
        report["window: start to first paint (promised: 2 s)"] = f"{painted:.2f} s"
        window = psutil.Process(process.pid)
        engine = wait_for(window.children, 20)[0]
        engine.kill()
        (entry,) = wait_for(lambda: ended(installed.data), 60)
        nothing_of_ours_is_in(window)
        assert entry.state == "done", entry.error_detail
        assert WORDS in " ".join(segment.text for segment in segments(installed.data, entry)).lower()
        time.sleep(1)
        screen.picture(MADE / "screenshots" / "window.png")
        screen.shut(screen.window("Sottovoce"), process)
    assert entries(installed.data)
    assert painted < PAINT_CEILING_S


def test_it_is_removed_without_the_transcripts(installed: Installed) -> None:
    script = installed.program / "install.sh"
    subprocess.run(installed.command("/bin/sh", script, "--remove", PATH="/usr/bin:/bin"), check=True)
    assert not installed.program.exists()
    assert list(installed.data.iterdir())
