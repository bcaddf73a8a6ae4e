"""The set-up scripts on a machine that lacks things, in a checkout that was moved, and after an interruption."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1"
"""
# A build backend without dependencies, so that a real pip installs something without the network.
# A file named "slow" makes it take its time.
BACKEND = """
import pathlib, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    while pathlib.Path("slow").exists():
        time.sleep(0.1)
    name = "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("tiny.pth", str(pathlib.Path.cwd()))
        wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        extras = "".join(f"Provides-Extra: {extra}\\n" for extra in ("starter", "dev", "bench"))
        wheel.writestr("tiny-1.dist-info/METADATA", f"Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n{extras}")
        wheel.writestr("tiny-1.dist-info/RECORD", "")
    return name
"""

debian = pytest.mark.skipif(shutil.which("apt-get") is None, reason="about Debian and its kin")


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A folder that another user than us may read, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small project with our set-up script, in a folder whose name is no easy one."""
    folder = tmp_path / "a user's (odd) folder"
    (folder / "packaging").mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "make_venv.sh", folder / "packaging")
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    return folder


def stand_in(folder: Path, name: str, script: str) -> None:
    """A command `name` in `folder` that does what `script` says."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def make_venv(checkout: Path, what: str = "run", **changes: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": sys.executable} | changes
    command = ["sh", "packaging/make_venv.sh", what]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def installed_from(checkout: Path) -> str:
    """The folder that the environment's own Python imports from."""
    code = "import sys; print(sys.path[-1])"
    return subprocess.check_output([checkout / ".venv/bin/python", "-c", code], text=True).strip()


def system_libraries(folder: Path, display: str) -> subprocess.CompletedProcess[str]:
    """Ask for a library that no machine has, as a user who may not install anything."""
    shutil.copytree(ROOT / "packaging" / "linux", folder / "linux")
    with (folder / "linux" / "packages-run.txt").open("a") as wanted:
        wanted.write("libnever.so.9  libnever9\n")
    stand_in(folder / "bin", "sudo", "exit 1")
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "DISPLAY": display}
    another_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    command = [*another_user, "sh", f"{folder}/linux/system_libraries.sh", "run"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@debian
def test_a_user_who_may_not_install_reads_the_line_to_type(readable_folder: Path) -> None:
    done = system_libraries(readable_folder, display=":0")
    assert (
        done.stderr.splitlines()[-1]
        == "  sudo apt-get update && sudo apt-get install --no-install-recommends libnever9"
    )
    assert done.returncode == 1


@debian
def test_without_a_display_a_missing_library_of_the_window_stops_nobody(readable_folder: Path) -> None:
    done = system_libraries(readable_folder, display="")
    assert "libnever9" in done.stderr
    assert "going on" in done.stderr.splitlines()[-1]
    assert done.returncode == 0


@debian
def test_a_machine_with_everything_is_left_alone() -> None:
    script = ROOT / "packaging" / "linux" / "system_libraries.sh"
    assert subprocess.check_output(["sh", script, "test"], stderr=subprocess.STDOUT) == b""


def test_setting_up_twice_works_once(checkout: Path) -> None:
    assert "Installing" in make_venv(checkout).stderr
    assert installed_from(checkout) == str(checkout)
    again = make_venv(checkout)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_what_the_bench_needs_is_enough_for_the_tests_and_not_the_other_way_round(checkout: Path) -> None:
    make_venv(checkout, "dev")
    assert "Installing" in make_venv(checkout, "bench").stderr
    assert make_venv(checkout, "dev").stderr == ""
    assert make_venv(checkout, "run").stderr == ""


def test_a_moved_checkout_is_set_up_anew(checkout: Path) -> None:
    make_venv(checkout)
    moved = checkout.rename(checkout.parent / "moved")
    assert "Installing" in make_venv(moved).stderr
    assert installed_from(moved) == str(moved)


def test_an_interrupted_set_up_is_made_anew(checkout: Path) -> None:
    (checkout / "slow").touch()
    command = ["sh", "packaging/make_venv.sh", "run"]
    with subprocess.Popen(command, cwd=checkout, start_new_session=True, stderr=subprocess.DEVNULL) as interrupted:
        deadline = time.monotonic() + 60
        while not (checkout / ".venv" / ".unfinished").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(interrupted.pid, signal.SIGKILL)
    (checkout / "slow").unlink()
    done = make_venv(checkout)
    assert "anew" in done.stderr
    assert done.returncode == 0
    assert installed_from(checkout) == str(checkout)


def test_a_machine_without_a_fitting_python_gets_one_line(checkout: Path, tmp_path: Path) -> None:
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        stand_in(tmp_path / "bin", name, "exit 1")
    done = make_venv(checkout, PYTHON="", PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    assert done.stderr.startswith("Sottovoce needs Python 3.11, 3.12 or 3.13")
    assert len(done.stderr.splitlines()) == 1
    assert not (checkout / ".venv").exists()


def test_ci_runs_the_tests_even_when_the_checks_fail(tmp_path: Path) -> None:
    stand_in(tmp_path, "make", f'echo "$1" >>{tmp_path}/called; [ "$1" != check ]')
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", ROOT / ".ci" / "run"], env=environment, check=False)
    assert (tmp_path / "called").read_text().split() == ["check", "test"]
    assert done.returncode == 1
