"""How much memory this process has used, and how much the machine has."""

from __future__ import annotations

import sys

from engine.errors import Code, EngineError

if sys.platform != "win32":
    import os
    import re
    import resource
    from pathlib import Path

    def peak_memory() -> int | None:
        """The most memory this process ever held, in bytes.

        Linux's getrusage will not do: a child starts with the peak of the process that forked it.
        """
        try:
            status = Path("/proc/self/status").read_text("ascii", "replace")
        except OSError:  # macOS, which counts in bytes
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) * 1024 if found else None

    def installed_memory() -> int | None:
        """The machine's memory in bytes; None where it cannot be asked."""
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            return None

    def available_memory() -> int | None:
        """Bytes that a new process can have without others being swapped out, where Linux tells; else None."""
        try:
            facts = Path("/proc/meminfo").read_text("ascii", "replace")
        except OSError:
            return None
        found = re.search(r"MemAvailable:\s+(\d+) kB", facts)
        return int(found[1]) * 1024 if found else None

else:
    import ctypes
    from ctypes import wintypes

    class _Counters(ctypes.Structure):
        _fields_ = [
            ("cb", wintypes.DWORD),
            ("faults", wintypes.DWORD),
            ("peak", ctypes.c_size_t),
            ("rest", ctypes.c_size_t * 7),
        ]

    class _Status(ctypes.Structure):
        _fields_ = [
            ("length", wintypes.DWORD),
            ("load", wintypes.DWORD),
            ("total", ctypes.c_uint64),
            ("available", ctypes.c_uint64),
            ("rest", ctypes.c_uint64 * 5),
        ]

    def peak_memory() -> int | None:
        """The most memory this process ever held, in bytes; None where it cannot be asked."""
        counters = _Counters(cb=ctypes.sizeof(_Counters))
        process = wintypes.HANDLE(-1)  # the pseudo handle of this process
        done = ctypes.windll.kernel32.K32GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb)
        return int(counters.peak) if done else None

    def installed_memory() -> int | None:
        """The machine's memory in bytes; None where it cannot be asked."""
        status = _Status(length=ctypes.sizeof(_Status))
        done = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.total) if done else None

    def available_memory() -> int | None:
        """Bytes that a new process can have; None where it cannot be asked."""
        status = _Status(length=ctypes.sizeof(_Status))
        done = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.available) if done else None


def check_memory(needed: int) -> None:
    """EngineError OUT_OF_MEMORY when a model needs more bytes than this computer has; else loading ends the process."""
    installed = installed_memory()
    if installed is not None and needed > installed:
        detail = f"It needs about {needed / 1e9:.1f} GB, this computer has {installed / 1e9:.1f} GB."
        raise EngineError(Code.OUT_OF_MEMORY, detail)
