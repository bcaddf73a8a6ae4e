"""What every format of subtitles does with a cue: which way it is read, when each word is said."""

from __future__ import annotations

import unicodedata

from engine.exports.cues import Cue
from engine.exports.word_times import visible
from engine.types import Word

RLM = "\u200f"  # RIGHT-TO-LEFT MARK: a player that does not know puts the full stop at the wrong end


def is_right_to_left(text: str) -> bool:
    """Whether its first letter is of a script that is written from right to left (Unicode's UAX #9, rule P2)."""
    kinds = (unicodedata.bidirectional(char) for char in text)
    return next((kind in ("R", "AL") for kind in kinds if kind in ("L", "R", "AL")), False)


def marked(text: str) -> str:
    """Lines from right to left between marks that say so."""
    return "\n".join(f"{RLM}{line}{RLM}" if is_right_to_left(line) else line for line in text.split("\n"))


def unmarked(text: str) -> str:
    """The same as before `marked`."""
    is_marked = len(text) > 2 and text.startswith(RLM) and text.endswith(RLM)
    return text[1:-1] if is_marked else text


def word_pieces(cue: Cue) -> list[tuple[Word, str]]:
    """The text of a cue, line feeds included, divided into its words; nothing when their times are not known."""
    if not cue.words:
        return []
    text = cue.text
    places = [index for index, char in enumerate(text) if not char.isspace()]
    passed, cuts = 0, [0]
    for word in cue.words[:-1]:
        passed += len(visible(word.text))
        cuts.append(places[passed])
    ends = [*cuts[1:], len(text)]
    return [(word, text[start:end]) for word, start, end in zip(cue.words, cuts, ends, strict=True)]
