"""What a bench ran on: processor, instruction sets, versions, commit."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from engine.backends.cpu import physical_cores

_X86_FLAGS = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8")
_ARM_FLAGS = ("asimddp", "asimdhp", "i8mm")
_PACKAGES = ("onnxruntime", "numpy", "pywhispercpp", "faster-whisper", "ctranslate2")
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything that the figures may depend on."""

    date: str
    processor: str
    cores: int
    flags: tuple[str, ...]  # of those that matter to the engines
    missing: tuple[str, ...]
    system: str
    load: float  # of the minute before; 0: nobody else worked
    versions: dict[str, str]
    commit: str


def this_machine() -> Machine:
    """Look around."""
    cpu = _cpu_info()
    matter = _ARM_FLAGS if platform.machine() in ("aarch64", "arm64") else _X86_FLAGS
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpu, re.MULTILINE)
    has = found[1].split() if found else []
    named = re.search(r"^model name\s*:\s*(.*)$", cpu, re.MULTILINE)
    return Machine(
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        processor=named[1] if named else platform.processor() or platform.machine(),
        cores=physical_cores(),
        flags=tuple(flag for flag in matter if flag in has),
        missing=tuple(flag for flag in matter if flag not in has),
        system=f"{platform.system()} {platform.machine()}",
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0,
        versions={"Python": platform.python_version()} | {name: version(name) for name in _PACKAGES},
        commit=_commit(),
    )


def _cpu_info() -> str:
    """What Linux tells of its processors; nothing elsewhere."""
    file = Path("/proc/cpuinfo")
    return file.read_text("utf-8", "replace") if file.exists() else ""


def _commit() -> str:
    """The commit of this checkout, with a word when something was changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", _ROOT, *arguments], capture_output=True, text=True, check=False).stdout

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "app", "engine", "pyproject.toml")
    return git("rev-parse", "--short=12", "HEAD").strip() + (" with changes" if changed else "")
