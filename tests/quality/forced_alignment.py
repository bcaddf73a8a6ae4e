"""The ruler for word times: forced alignment of a text that is known, by pocketsphinx with its American English model.

How good the ruler is, word_times.py measures on words at known places: about 30 ms.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pocketsphinx import Decoder
from recordings import Recording
from timed import Timed, words_of

from engine.audio.media import open_media
from engine.types import SAMPLE_RATE, SAMPLES_PER_MS

if TYPE_CHECKING:
    from engine.types import Samples

_FRAME_MS = 10
_EDGE = SAMPLE_RATE // 2  # digital silence around it leaves pocketsphinx without a last word, a noise floor does not
_EDGE_MS = _EDGE // SAMPLES_PER_MS
_FLOOR = 1e-4
_WIDE = 1e-100  # beams that lose no path: an alignment is small


def aligned_recording(recording: Recording) -> list[Timed]:
    """The words of a recording, stretch by stretch where it is known which text is said in which."""
    samples = samples_of(recording.path)
    references = recording.path.parent / "refs" / f"{recording.path.stem}.segments.tsv"
    if not references.exists():
        return aligned(samples, recording.reference)
    found: list[Timed] = []
    with references.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            start, end = (round(float(row[name]) * 1000) for name in ("start", "end"))
            stretch = aligned(samples[start * SAMPLES_PER_MS : end * SAMPLES_PER_MS], row["text"])
            found += [Timed(word.text, word.start + start, word.end + start, word.known) for word in stretch]
    return found


def aligned(samples: Samples, text: str) -> list[Timed]:
    """Where the words of `text` are in `samples`.

    A word that the dictionary lacks is aligned as if it were not there; it and its neighbours are not `known`.
    """
    decoder, words = _decoder(), words_of(text)
    sayable = [decoder.lookup_word(word) is not None for word in words]
    decoder.set_align_text(" ".join(word for word, able in zip(words, sayable, strict=True) if able))
    decoder.start_utt()
    decoder.process_raw(_pcm(samples), full_utt=True)
    decoder.end_utt()
    times = [
        (piece.start_frame * _FRAME_MS - _EDGE_MS, (piece.end_frame + 1) * _FRAME_MS - _EDGE_MS)
        for piece in decoder.seg() or ()
        if piece.word[0] not in "<["  # silence and noise
    ]
    whole = len(times) == sum(sayable)  # else no path through all words was found
    known = [whole and all(sayable[max(0, i - 1) : i + 2]) for i in range(len(words))]
    following = iter(times)
    placed = [next(following, (0, 0)) if able else (0, 0) for able in sayable]
    return [Timed(word, *time, trusted) for word, time, trusted in zip(words, placed, known, strict=True)]


def samples_of(path: Path) -> Samples:
    """A whole recording."""
    with open_media(path) as media:
        return np.concatenate([block.samples for block in media.blocks()])


def _pcm(samples: Samples) -> bytes:
    noise = np.random.default_rng(0).normal(0, _FLOOR, len(samples) + 2 * _EDGE)
    return (np.clip(np.pad(samples, _EDGE) + noise, -1, 1) * 32767).astype("<i2").tobytes()


@cache
def _decoder() -> Decoder:
    # `bestpath` takes a way through the lattice that may leave out the last words.
    return Decoder(lm=None, loglevel="FATAL", cmn="batch", bestpath=False, beam=_WIDE, wbeam=_WIDE, pbeam=_WIDE)
