"""Text to tokens, for prompts: GPT-2's byte pair encoding with nothing but the model's own list of tokens.

The tokens stand in the order in which they were merged, so the number of a token is the rank of its merge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# GPT-2's pattern with Python's classes: letters, digits, other signs, each with its leading space, and spaces.
_PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def encoded(text: str, words: Sequence[bytes]) -> list[int]:
    """The tokens of `text`; `words` are the text tokens by their numbers."""
    ranks = {word: number for number, word in enumerate(words)}
    return [token for piece in _PIECES.findall(text) for token in _merged(piece.encode(), ranks)]


def _merged(piece: bytes, ranks: dict[bytes, int]) -> list[int]:
    """Merge the neighbours whose union was learnt first, until none is left that was learnt."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while len(parts) > 1:
        best = min(range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], len(ranks)))
        union = parts[best] + parts[best + 1]
        if union not in ranks:
            break
        parts[best : best + 2] = [union]
    return [ranks[part] for part in parts if part in ranks]  # an odd model may lack single bytes
