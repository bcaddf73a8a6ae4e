"""Builds the program that people download: `make package`. It ends in dist/, with the sizes printed by part."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from icons import write_icons
from notices import MADE, ROOT, write_notices

DIST = ROOT / "dist"
FOLDER = DIST / "sottovoce"
ID = "io.sottovoce.Sottovoce"  # as Linux desktops know the program
LIMIT_MB = 400
LIMIT_DOWNLOAD_MB = 150

# Debug symbols of these are a fifth of the whole. Stripped libraries of numpy no longer load (their page offsets were
# moved by the wheel's repair), so nothing else is touched; `make package-smoke` reads, decodes and writes with these.
_STRIPPED = ("av.libs/*", "av/**/*.so", "lxml/**/*.so", "libpython*", "python3*/lib-dynload/*", "tract/*.so")


def main() -> None:
    """Build, shrink, measure, pack."""
    began = time.monotonic()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    write_notices()
    (MADE / "about" / "commit.txt").write_text(_commit(), "utf-8")
    write_icons(MADE)
    _pyinstaller()
    shutil.copy(write_notices(), FOLDER / "_internal" / "resources" / "about" / "licences.txt")
    if sys.platform == "linux":
        _strip()
    print(_sizes())
    if sys.platform == "linux":
        archive = _pack(version)
        print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1e6:.0f} MB to download")
        if archive.stat().st_size > LIMIT_DOWNLOAD_MB * 1e6:
            sys.exit(f"The download is larger than {LIMIT_DOWNLOAD_MB} MB.")
    if _size(FOLDER) > LIMIT_MB * 1e6:
        sys.exit(f"The program is larger than {LIMIT_MB} MB.")
    print(f"built in {time.monotonic() - began:.0f} s")


def _commit() -> str:
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return asked.stdout.strip()


def _pyinstaller() -> None:
    command = [sys.executable, "-P", "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR"]
    command += ["--workpath", str(MADE / "work"), "--distpath", str(DIST), str(ROOT / "packaging" / "app.spec")]
    subprocess.run(command, check=True, cwd=ROOT)


def _strip() -> None:
    files = {file.resolve() for pattern in _STRIPPED for file in (FOLDER / "_internal").glob(pattern)}
    subprocess.run(["strip", "--strip-unneeded", *sorted(files)], check=True)  # noqa: S607


def _size(path: Path) -> int:
    """Bytes of a file, or of all files under a folder; links count nothing."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink())


def _sizes() -> str:
    """The parts over half a megabyte, largest first; X.libs belongs to X."""
    parts: dict[str, int] = {}
    for path in [*FOLDER.glob("sottovoce*"), *(FOLDER / "_internal").iterdir()]:
        name = path.name.removesuffix(".libs") if path.is_dir() else path.name
        parts[name] = parts.get(name, 0) + _size(path)
    large = sorted(((size, name) for name, size in parts.items() if size > 500_000), reverse=True)
    rest = sum(size for size in parts.values() if size <= 500_000)
    lines = [f"{size / 1e6:7.1f} MB  {name}" for size, name in [*large, (rest, "the rest")]]
    return "\n".join([*lines, f"{_size(FOLDER) / 1e6:7.1f} MB  in all"])


def _pack(version: str) -> Path:
    """One archive: the program, with what a desktop wants to know about it and a script that puts both in place."""
    linux = ROOT / "packaging" / "linux"
    for name in ("install.sh", f"{ID}.desktop", f"{ID}.metainfo.xml"):
        shutil.copy(linux / name, FOLDER)
    shutil.copy(ROOT / "resources" / "icons" / "sottovoce.svg", FOLDER / f"{ID}.svg")
    archive = DIST / f"sottovoce-{version}-linux-{os.uname().machine}.tar.zst"
    tar = ["tar", "--create", "--use-compress-program", "zstd -10 -T0 --long=27", "--owner=0", "--group=0"]
    subprocess.run([*tar, "--file", str(archive), "--directory", str(DIST), FOLDER.name], check=True)
    return archive


if __name__ == "__main__":
    main()
