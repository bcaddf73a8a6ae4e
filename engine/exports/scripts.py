"""What writing systems ask of a text that is cut or joined: where there are spaces, and what stays together."""

from __future__ import annotations

import re
import unicodedata

# Written without spaces between words; a line may end after any character of the first set (Unicode's UAX #14,
# class ID), but of the second (Thai, Lao, Tibetan, Burmese, Khmer) only after a word.
_IDEOGRAPHS = "\u2e80-\u30ff\u3100-\u312f\u31a0-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
_SPACELESS = _IDEOGRAPHS + "\u0e00-\u109f\u1780-\u17ff"
_AFTER_ANY = re.compile(f"[{_IDEOGRAPHS}]")
_WITHOUT_SPACE = re.compile(f"[{_SPACELESS}]")

# What may not begin a cue; also French « ? » after its space. Small kana and marks: JIS X 4051.
_CLINGS = frozenset(
    ".,;:!?%…‥·\"'’”)]}、。，．！？：；％・ーゝゞ々ヽヾぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ؟،؛۔।॥\u200d"
)
_CLINGING = frozenset({"Mn", "Mc", "Me", "Pe", "Pf"})  # marks, closing brackets and quotes
_LEADS = frozenset("¿¡$£€#@\u200d")  # what may not end one
_LEADING = frozenset({"Ps", "Pi"})  # opening brackets and quotes
_EMOJI_TONES = range(0x1F3FB, 0x1F400)

_SENTENCE_ENDS = frozenset(".!?…。．！？؟۔।॥")
_CLAUSE_ENDS = frozenset(",;:–—、，；：،؛")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\ufeff]")
_SPACES = re.compile("[ \t]+")
_QUOTES = "\"'’”»」』)]}）】 "


def may_cut(text: str, at: int, after_word: bool) -> bool:
    """Whether a new cue may begin at `text[at]`; `after_word` says that a word is known to end there."""
    before, after = text[max(0, at - 3) : at].rstrip()[-1:], text[at : at + 3].lstrip()[:1]
    if not before or not after or _clings(after) or before in _LEADS or unicodedata.category(before) in _LEADING:
        return False
    if text[at - 1].isspace() or text[at].isspace():
        return True
    spaceless = _WITHOUT_SPACE if after_word else _AFTER_ANY
    return bool(spaceless.match(before) and spaceless.match(after))


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does, quotes and brackets aside."""
    return text.rstrip(_QUOTES)[-1:] in _SENTENCE_ENDS and bool(text)


def ends_clause(text: str) -> bool:
    """Whether a text ends with a comma or the like."""
    return text.rstrip(_QUOTES)[-1:] in _CLAUSE_ENDS and bool(text)


def join(first: str, second: str) -> str:
    """Put two texts together, with a space where the writing has them."""
    return first + between(first, second) + second


def between(first: str, second: str) -> str:
    """What stands between two texts: a space where the writing has them."""
    spaceless = _WITHOUT_SPACE.match(first[-1:]) and _WITHOUT_SPACE.match(second[:1])
    return "" if spaceless or not first or not second else " "


def tidy(text: str) -> str:
    """Drop empty lines and needless spaces; control characters and halves of surrogate pairs are no text."""
    lines = (_UNPRINTABLE.sub(" ", line).strip() for line in text.splitlines())
    return "\n".join(_SPACES.sub(" ", line) for line in lines if line)


def _clings(character: str) -> bool:
    return character in _CLINGS or unicodedata.category(character) in _CLINGING or ord(character) in _EMOJI_TONES
