"""The models that can be downloaded: OpenAI's Whisper as whisper.cpp's author published it, at one revision.

Sizes and hashes are those that Hugging Face states for the files of `REVISION`. No numpy here: the window reads it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

REVISION = "5359861c739e955e79d9a303bcbc70fb988958b1"
BASE_URL = f"https://huggingface.co/ggerganov/whisper.cpp/resolve/{REVISION}"
MIRROR_VARIABLE = "SOTTOVOCE_MODELS_URL"  # an environment variable: the folder of a mirror to download from


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One file to download, known by its size and hash."""

    name: str
    bytes: int
    sha256: str

    @property
    def file(self) -> str:
        """The name of its file, there and here."""
        return f"ggml-{self.name}.bin"

    @property
    def multilingual(self) -> bool:
        """Whether it knows languages other than English."""
        return not self.name.endswith(".en")

    @property
    def can_translate(self) -> bool:
        """Whether it can translate into English: turbo was not trained to, and answers in the spoken language."""
        return self.multilingual and "turbo" not in self.name


CATALOG: tuple[CatalogEntry, ...] = (
    CatalogEntry("tiny", 77_691_713, "be07e048e1e599ad46341c8d2a135645097a538221678b7acdd1b1919c6e1b21"),
    CatalogEntry("tiny.en", 77_704_715, "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f"),
    CatalogEntry("base", 147_951_465, "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe"),
    CatalogEntry("base.en", 147_964_211, "a03779c86df3323075f5e796cb2ce5029f00ec8869eee3fdfb897afe36c6d002"),
    CatalogEntry("small", 487_601_967, "1be3a9b2063867b937e64e2ec7483364a79917e157fa98c5d94b5c1fffea987b"),
    CatalogEntry("small.en", 487_614_201, "c6138d6d58ecc8322097e0f987c32f1be8bb0a18532a3f88f734d1bbf9c41e5d"),
    CatalogEntry("small-q5_1", 190_085_487, "ae85e4a935d7a567bd102fe55afc16bb595bdb618e11b2fc7591bc08120411bb"),
    CatalogEntry("medium", 1_533_763_059, "6c14d5adee5f86394037b4e4e8b59f1673b6cee10e3cf0b11bbdbee79c156208"),
    CatalogEntry("medium.en", 1_533_774_781, "cc37e93478338ec7700281a7ac30a10128929eb8f427dda2e865faa8f6da4356"),
    CatalogEntry("medium-q5_0", 539_212_467, "19fea4b380c3a618ec4723c3eef2eb785ffba0d0538cf43f8f235e7b3b34220f"),
    CatalogEntry("large-v2", 3_094_623_691, "9a423fe4d40c82774b6af34115b8b935f34152246eb19e80e376071d3f999487"),
    CatalogEntry("large-v3", 3_095_033_483, "64d182b440b98d5203c4f9bd541544d84c605196c4f7b845dfa11fb23594d1e2"),
    CatalogEntry("large-v3-turbo", 1_624_555_275, "1fc70f774d38eb169993ac391eea357ef47c88757ef72ee5943879b7e8e2bc69"),
    CatalogEntry(
        "large-v3-turbo-q5_0", 574_041_195, "394221709cd5ad1f40c46e6031ca61bce88931e6e088c188294c6d5a55ffa7e2"
    ),
)


def find(name: str) -> CatalogEntry | None:
    """Return the entry of this name; None when there is none."""
    return next((entry for entry in CATALOG if entry.name == name), None)


def url(entry: CatalogEntry, base: str | None = None) -> str:
    """Say where its file is: under `base`, else under the mirror of the environment, else at its publisher."""
    return f"{(base or os.environ.get(MIRROR_VARIABLE) or BASE_URL).rstrip('/')}/{entry.file}"


def is_multilingual(name: str) -> bool:
    """Whether a model of this name knows languages other than English; what the catalogue does not know, may."""
    entry = find(name)
    return entry is None or entry.multilingual


def can_translate(name: str) -> bool:
    """Whether a model of this name can translate; what the catalogue does not know, may."""
    entry = find(name)
    return entry is None or entry.can_translate


def human_size(count: int) -> str:
    """Spell a number of bytes for people, as disks and downloads are sold: 148 MB, 1.6 GB."""
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.0f} MB" if count < 999_500_000 else f"{count / 1_000_000_000:.1f} GB"
