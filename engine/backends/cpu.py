"""Which instructions this processor has, asked before a library that needs them is loaded.

The pywhispercpp wheel is built for AVX2, FMA and F16C on x86-64 and dies with SIGILL elsewhere; numpy
reads CPUID itself and tells, also under an emulator, where /proc/cpuinfo shows the host.
"""

from __future__ import annotations

import os
import platform
from importlib import import_module
from pathlib import Path

from engine.errors import Code, EngineError

_NEEDED_X86 = ("AVX2", "FMA3", "F16C")
_FIRST_WITH_THEM = "Intel Haswell (2013), AMD Excavator (2015) or newer"


def missing_instructions() -> tuple[str, ...]:
    """Names of the instruction sets that whisper.cpp's wheel needs and this processor lacks."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ()
    features: dict[str, bool] = import_module("numpy._core._multiarray_umath").__cpu_features__
    return tuple(name for name in _NEEDED_X86 if not features.get(name, False))


def check_cpu() -> None:
    """EngineError CPU_TOO_OLD, with what is missing and which processor has it."""
    missing = missing_instructions()
    if missing:
        raise EngineError(
            Code.CPU_TOO_OLD, f"whisper.cpp needs {', '.join(missing)}: a processor such as {_FIRST_WITH_THEM}."
        )


def machine() -> str:
    """This computer as far as the speed of a model depends on it: system, processor and its instructions."""
    features: dict[str, bool] = import_module("numpy._core._multiarray_umath").__cpu_features__
    known = " ".join(sorted(name for name, there in features.items() if there))
    return f"{platform.system()} {platform.machine()}, {_processor_name()}: {known}"


def physical_cores() -> int:
    """How many cores this process may use, counting hyper-threads once; at least 1."""
    allowed = _allowed_cpus()
    siblings = {_first_sibling(cpu) for cpu in allowed}
    return max(1, len(siblings))


def threads_for(asked: int) -> int:
    """How many threads to run: as asked, but not more than there are processors; 0: one a physical core."""
    return min(asked, len(_allowed_cpus())) if asked else physical_cores()


def _processor_name() -> str:
    """As Linux spells it; elsewhere what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _allowed_cpus() -> frozenset[int]:
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _first_sibling(cpu: int) -> int:
    """The lowest CPU number on the same core (Linux); elsewhere every CPU is its own core."""
    try:
        text = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text("ascii")
        return int(text.replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return cpu
