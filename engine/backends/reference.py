"""A spoken text that comes with the program: since its words are known, whoever transcribes it can be judged.

Ours, spoken by espeak-ng from reference.txt. To make the recording again, in resources/selfcheck:
    espeak-ng -v en-us -s 150 -a 40 -f reference.txt --stdout | ffmpeg -i - -ar 16000 -sample_fmt s16 reference.flac
It was chosen among several voices and speeds: tiny.en and base get every word of it right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from engine.resource_files import resource

LENGTH_MS = 8_415
_FOLDER = "selfcheck"


def reference_recording() -> Path:
    """The sound, mono at 16 kHz; FileNotFoundError when the program was installed without it."""
    return resource(_FOLDER, "reference.flac")


def reference_words() -> list[str]:
    """What is said in it; FileNotFoundError as above."""
    return _words(resource(_FOLDER, "reference.txt").read_text("utf-8"))


def words_wrong(heard: str) -> int:
    """How many words of the reference are missing, others, or too many in what was heard (Levenshtein's distance)."""
    return _distance(reference_words(), _words(heard))


def _words(text: str) -> list[str]:
    return re.sub(r"[^\w\s]", "", text.lower()).split()


def _distance(right: Sequence[str], found: Sequence[str]) -> int:
    row = list(range(len(found) + 1))
    for i, word in enumerate(right, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]
