"""The recordings of ../shared/audio: what is said in them, and what has to come out of the odd ones."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared" / "audio"


@dataclass(frozen=True, slots=True)
class Recording:
    """A real recording with its reference text."""

    path: Path
    language: str  # Whisper's code; "auto" for several in one file
    seconds: float
    speakers: int
    reference: str

    @property
    def scored_as(self) -> str:
        """The language whose rules make words alike: several together by the English ones."""
        return "en" if self.language == "auto" else self.language


@dataclass(frozen=True, slots=True)
class OddFile:
    """A file that goes wrong elsewhere; `check` is explained in ../shared/audio/README.md."""

    path: Path
    check: str
    expected: str


def recordings() -> list[Recording]:
    """All of speech/manifest.tsv."""
    return [
        Recording(
            SHARED / "speech" / row["file"],
            "auto" if "+" in row["language"] else row["language"].split("-")[0],
            float(row["seconds"]),
            int(row["speakers"]),
            row["reference_transcript"],
        )
        for row in _rows(SHARED / "speech" / "manifest.tsv")
    ]


def odd_files() -> list[OddFile]:
    """All of odd/manifest.tsv."""
    return [
        OddFile(SHARED / "odd" / row["file"], row["check"], row["expected_text"])
        for row in _rows(SHARED / "odd" / "manifest.tsv")
    ]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
