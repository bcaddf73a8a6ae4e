"""Writes the licences of all that the packaged program carries: `make notices`, and each build.

Names, versions and texts come from the metadata of the environment, those of libraries of the system from its package
manager. The program keeps the file as resources/about/licences.txt and shows it in its About box.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path

from shipped import shipped

ROOT = Path(__file__).resolve().parent.parent
MADE = ROOT / "build" / "package"
_IS_LICENCE = ("licen", "copying", "notice", "authors")
_GNU = Path("/usr/share/common-licenses")  # Debian's copies of the texts that its packages and Qt's wheels only name


def licences(system_files: Iterable[str]) -> str:
    """The whole text; `system_files` are libraries that came from outside the environment."""
    parts = [(ROOT / "NOTICES.md").read_text("utf-8"), _heading("Sottovoce"), (ROOT / "LICENSE").read_text("utf-8")]
    parts += [_heading(f"Python {sys.version.split()[0]}"), _python_licence()]
    for name, distribution in shipped().items():
        if name != "sottovoce":
            parts += [_heading(f"{name} {distribution.version}"), _licence_name(distribution), *_texts(distribution)]
    for package in sorted(_debian_packages(system_files)):
        copyright_file = Path("/usr/share/doc", package, "copyright")
        parts += [_heading(f"{package} (Debian)"), copyright_file.read_text("utf-8", "replace")]
    for text in ("GPL-2", "GPL-3", "LGPL-2.1", "LGPL-3"):
        if (_GNU / text).exists():
            parts += [_heading(f"The text of {text}"), (_GNU / text).read_text("utf-8")]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def write_notices() -> Path:
    """Into the folder that packaging/app.spec takes up; what came from the system is known after a first build."""
    listed = MADE / "from_the_system.txt"
    target = MADE / "about" / "licences.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(licences(listed.read_text("utf-8").split("\n") if listed.exists() else ()), "utf-8")
    return target


def _heading(text: str) -> str:
    return f"{'=' * 100}\n{text}\n{'=' * 100}"


def _python_licence() -> str:
    places = (Path(sysconfig.get_path("stdlib"), "LICENSE.txt"), Path(sys.base_prefix, "LICENSE.txt"))
    return next((place.read_text("utf-8") for place in places if place.exists()), "Python Software Foundation License")


def _licence_name(distribution: Distribution) -> str:
    """As the metadata name it: an expression, a short name, or the classifiers."""
    short = _field(distribution, "License-Expression") or _field(distribution, "License")
    classifiers = distribution.metadata.get_all("Classifier") or ()
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License")]
    name = short if short and "\n" not in short else ", ".join(named)
    links = [line.split(", ", 1)[1] for line in distribution.metadata.get_all("Project-URL") or () if ", " in line]
    home = _field(distribution, "Home-page") or next(iter(links), "not named")
    return f"Licence: {name or 'see below'}\nHome: {home}"


def _field(distribution: Distribution, name: str) -> str:
    return next(iter(distribution.metadata.get_all(name) or ()), "")


def _texts(distribution: Distribution) -> Iterator[str]:
    """Its licence files, and what is called ThirdPartyNotices wherever it lies."""
    for file in distribution.files or ():
        is_text = file.suffix in ("", ".txt", ".md", ".rst")
        is_licence = ".dist-info" in file.parts[0] and file.name.lower().startswith(_IS_LICENCE)
        if is_text and (is_licence or file.stem == "ThirdPartyNotices"):
            yield Path(str(file.locate())).read_text("utf-8", "replace")


def _debian_packages(files: Iterable[str]) -> set[str]:
    packages: set[str] = set()
    for file in filter(None, files):
        for name in (file, str(Path(file).resolve())):
            command = ["dpkg-query", "-S", name]
            asked = subprocess.run(command, capture_output=True, text=True, check=False)
            packages |= {line.split(":")[0] for line in asked.stdout.splitlines()}
    return packages


if __name__ == "__main__":
    print(f"wrote {write_notices()}")
