"""How tests name the command line that the fixture `sottovoce` runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import TypeAlias

FAKE = ("--backend", "fake")
Sottovoce: TypeAlias = Callable[..., subprocess.CompletedProcess[bytes]]
