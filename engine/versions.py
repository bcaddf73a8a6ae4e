"""What exactly runs: the version and the commit of the program, and what it is made with. Nothing is loaded for it."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from engine.resource_files import resource

_ROOT = Path(__file__).resolve().parent.parent
INSTALL_TRACT = "pip install 'tract>=0.23,<0.24'"


def version_lines() -> tuple[str, ...]:
    """The program, Python and system, Qt, backends; a line each."""
    return (
        f"Sottovoce {version('sottovoce')}, commit {commit() or 'unknown'}",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"Qt {version('PySide6-Essentials')}",
        runtimes(),
    )


def runtimes() -> str:
    """What can run a model, with versions; tract is the one that may be missing."""
    try:
        tract = f"tract {version('tract')}"
    except PackageNotFoundError:
        tract = f"tract is not installed ({INSTALL_TRACT})"
    return f"ONNX Runtime {version('onnxruntime')}, whisper.cpp (pywhispercpp {version('pywhispercpp')}), {tract}"


def commit() -> str:
    """Twelve digits of it, from the packaged program or the checkout; "" when neither tells."""
    try:
        return resource("about", "commit.txt").read_text("utf-8")[:12]
    except FileNotFoundError:
        if not (_ROOT / ".git").exists():
            return ""
    try:
        command = ["git", "-C", str(_ROOT), "rev-parse", "--short=12", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return ""


def licences() -> str:
    """Of all that the packaged program carries; from a checkout or a wheel, where nothing is carried, our notices."""
    try:
        return resource("about", "licences.txt").read_text("utf-8")
    except FileNotFoundError:
        in_checkout = _ROOT / "NOTICES.md"
        if in_checkout.exists():
            return in_checkout.read_text("utf-8")
    return distribution("sottovoce").read_text("licenses/NOTICES.md") or ""
