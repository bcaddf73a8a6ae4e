"""Where a sentence may be divided without hurting the eye: before a phrase, not behind the word that begins it."""

from __future__ import annotations

from engine.exports.scripts import ends_clause, ends_sentence

# Conjunctions and relative words: a good place is before them.
_OPENERS = frozenset(
    "and but or nor so yet because although though while when where who which that if unless until since as than"
    " und aber oder denn weil dass ob wenn als obwohl während bevor nachdem damit sondern der die das"
    " et mais ou donc car parce que qui quand où si lorsque puisque"
    " y pero o porque que cuando donde si aunque mientras"
    " e ma perché che quando dove se mentre anche"
    " mas porque quando onde enquanto".split()
)
# Prepositions: before them is still a fair place.
_PREPOSITIONS = frozenset(
    "of in on at to for with from by about into over after before under between through during without against"
    " von in auf an zu für mit aus bei über nach vor unter zwischen durch ohne gegen um"
    " de à dans sur pour avec par sans sous entre"
    " en a con por para sin sobre entre desde hasta di da su per tra fra em com sem".split()
)
# Articles, possessives and the like: behind them a reader waits for the word that they belong to.
_LEADERS = frozenset(
    "a an the my your his her its our their this these those no every each some any very not to mr mrs ms dr st"
    " ein eine einen einem einer eines mein dein sein ihr unser kein sehr nicht zum zur im am"
    " le la les l' un une des du mon ma mes ton ta ses leur ce cette ces au aux ne"
    " el los las una unos unas mi tu su este esta no muy del al il lo gli i uno questo quello non nel della os um uma"
    .split()
)  # fmt: skip


def break_cost(before: str, after: str, pause: int) -> float:
    """What it costs to end a cue or line between two words, from 0 (a sentence ends) to 3 (a name is divided)."""
    if ends_sentence(before) or pause >= 1_000:
        return 0.0
    if ends_clause(before):
        return 0.3
    return _inner_cost(before, after) - min(pause, 600) / 1_000  # a breath helps


def _inner_cost(before: str, after: str) -> float:
    """The same within a clause."""
    if divides_name(before, after):
        return 3.0
    last, first = _bare(before), _bare(after)
    if last in _LEADERS or last in _PREPOSITIONS or last in _OPENERS:
        return 2.2
    if first in _OPENERS:
        return 0.7
    return 0.9 if first in _PREPOSITIONS else 1.4


def divides_name(before: str, after: str) -> bool:
    """Whether two words look like parts of one name: both begin with a capital, and nothing stands between them."""
    first, second = before.lstrip("\"'“‘(«¿¡"), after.lstrip("\"'“‘(«¿¡")
    capitals = first[:1].isupper() and second[:1].isupper()
    return capitals and first[-1:].isalnum() and len(first) > 1 and not first.isupper() and second[:1].isalpha()


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:!?…\"'“”‘’()«»")
