"""`pip install .`: the wheel holds all that belongs to the program, and what it installs runs from anywhere."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("app", "engine", "resources", "pyproject.toml", "README.md", "LICENSE", "NOTICES.md")
NO_CACHES = shutil.ignore_patterns("__pycache__")


def files(folder: Path) -> set[str]:
    """What is in app, engine and resources under `folder`, caches left out."""
    return {
        path.relative_to(folder).as_posix()
        for name in ("app", "engine", "resources")
        for path in (folder / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built from a copy (setuptools leaves a build folder behind), without the network."""
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        source = ROOT / name
        shutil.copytree(source, copy / name, ignore=NO_CACHES) if source.is_dir() else shutil.copy(source, copy)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", copy / "dist", copy], check=True)
    [built] = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with this wheel and what it requires: no tool of development, nothing of this checkout."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", wheel], check=True)
    [libraries] = environment.glob("lib/*/site-packages")
    for name, distribution in required().items():
        for top in {file.parts[0] for file in distribution.files or () if name != "sottovoce"} - {"..", "__pycache__"}:
            link = libraries / top
            if not link.exists():  # PySide6 is of several distributions
                link.symlink_to(Path(str(distribution.locate_file(top))))
    return environment / "bin"


def required() -> dict[str, Distribution]:
    """What the program requires, by packaging/shipped.py."""
    spec = importlib.util.spec_from_file_location("shipped", ROOT / "packaging" / "shipped.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.shipped()


def run(command: list[str | Path], elsewhere: Path) -> str:
    """Its output, run in the folder `elsewhere`."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(elsewhere), "SOTTOVOCE_DATA": str(elsewhere / "data")}
    done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_package_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {path.parent.relative_to(ROOT) for name in ("app", "engine") for path in (ROOT / name).rglob("*.py")}
    listed = set(project["tool"]["setuptools"]["packages"])
    assert listed == {".".join(package.parts) for package in packages} | {"resources"}


def test_the_wheel_holds_every_file_of_the_program_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        notices = [name for name in archive.namelist() if name.endswith(("licenses/LICENSE", "licenses/NOTICES.md"))]
    assert packed == files(ROOT)
    assert len(notices) == 2


def test_an_installed_program_runs_from_any_folder(installed: Path, tmp_path: Path) -> None:
    assert "usage: sottovoce" in run([installed / "sottovoce", "transcribe", "--help"], tmp_path)
    assert "base" in run([installed / "sottovoce", "models", "list"], tmp_path)


def test_an_installed_program_transcribes_without_any_tool_of_development(
    installed: Path, data_with_models: Path, speak: Callable[..., Path], tmp_path: Path
) -> None:
    model = data_with_models / "models" / "ggml-tiny.en.bin"
    words = ["transcribe", speak("Good morning everyone, and welcome."), "--model", model, "--backend", "onnx"]
    assert "good morning everyone" in run([installed / "sottovoce", *words], tmp_path).lower()
    missing = "from importlib.util import find_spec; print(*map(find_spec, ('pytest', 'setuptools', 'PyInstaller')))"
    assert run([installed / "python", "-P", "-c", missing], tmp_path) == "None None None\n"


def test_an_installed_program_opens_its_window(installed: Path, tmp_path: Path) -> None:
    code = """
import sys
from PySide6.QtCore import QTimer
from app import window_start
from app.__main__ import main
made = window_start._window
def opened(*words):
    window = made(*words)
    QTimer.singleShot(0, lambda: print(window.windowTitle(), window.isVisible()))
    QTimer.singleShot(200, window.close)
    return window
window_start._window = opened
sys.exit(main([]))
"""
    command = ["env", "QT_QPA_PLATFORM=offscreen", installed / "python", "-P", "-c", code]
    assert run(command, tmp_path) == "Sottovoce True\n"


def test_an_installed_program_says_its_version_and_its_licences(installed: Path, tmp_path: Path) -> None:
    told = run([installed / "sottovoce", "--version"], tmp_path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told.startswith(f"Sottovoce {project['version']}, commit unknown\nPython 3.")
    assert "ONNX Runtime 1." in told
    code = "from engine.versions import licences; print(licences())"
    assert "# Notices" in run([installed / "python", "-P", "-c", code], tmp_path)


def test_an_installed_program_finds_its_pictures(installed: Path, tmp_path: Path) -> None:
    code = "from engine.resource_files import resource; print(resource('icons', 'sottovoce.svg'))"
    icon = Path(run([installed / "python", "-P", "-c", code], tmp_path).strip())
    assert icon.is_relative_to(installed.parent)
    assert icon.read_text(encoding="utf-8").startswith("<svg")


def test_a_folder_of_the_user_is_not_taken_for_the_engine(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('not this one')")
    assert "usage: sottovoce" in run([installed / "sottovoce", "transcribe", "--help"], tmp_path)
