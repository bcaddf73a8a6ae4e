"""The lines of a cue: as few as hold it, of like length, divided where it reads well."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from engine.exports.atoms import Atom, text_of, width
from engine.exports.phrases import break_cost
from engine.exports.rules import CueRules

BALANCE = 0.4  # of the text, that the shorter of two lines has at least
_TOO_WIDE = 100.0  # a column beyond the line's end


def broken(atoms: Sequence[Atom], rules: CueRules) -> tuple[str, ...]:
    """The lines; more of them than the rules allow are never made, so that one may be too wide."""
    whole = text_of(atoms)
    if width(whole) <= rules.characters or len(atoms) == 1:
        return (whole,)
    wanted = min(rules.lines, len(atoms))
    _cost, places = _best(atoms, rules, wanted)
    bounds = [0, *places, len(atoms)]
    return tuple(text_of(atoms[start:end]) for start, end in pairwise(bounds))


def _best(atoms: Sequence[Atom], rules: CueRules, lines: int) -> tuple[float, list[int]]:
    """The cheapest places to divide into so many lines."""
    if lines == 1:
        return _TOO_WIDE * max(0, width(text_of(atoms)) - rules.characters), []
    options: list[tuple[float, list[int]]] = []
    for at in range(1, len(atoms) - lines + 2):
        before, after = atoms[:at], atoms[at:]
        first = width(text_of(before))
        rest, places = _best(after, rules, lines - 1)
        cost = (
            rest + _TOO_WIDE * max(0, first - rules.characters) + 2 * break_cost(atoms[at - 1].text, after[0].text, 0)
        )
        if lines == 2:
            cost += _shape_cost(first, width(text_of(after)), min(len(before), len(after)))
        options.append((cost, [at, *(at + place for place in places)]))
    return min(options)


def _shape_cost(first: int, second: int, fewest: int) -> float:
    """Lines of like length; the first may be a little shorter. A single word on a line looks lost."""
    share = min(first, second) / max(1, first + second)
    cost = 4 * (0.5 - share) + (0.05 if first > second else 0.0)
    if share < BALANCE:
        cost += 8
    return cost + (6 if fewest == 1 else 0)
