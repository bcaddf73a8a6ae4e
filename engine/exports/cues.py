"""Subtitles by rule: the words of a transcript divided into cues, at the best of all places together.

    segments → valid ones (normalise) → atoms → the cheapest division (dynamic programming) → times → lines → warnings

What a division costs says `_cost`; nothing else decides. A rule that cannot be kept becomes a warning on its cue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from engine.exports.atoms import Atom, atoms_of, text_of, width
from engine.exports.lines import BALANCE, broken
from engine.exports.normalise import normalise
from engine.exports.phrases import break_cost, divides_name
from engine.exports.rules import CueRules, Warning_
from engine.exports.scripts import ends_sentence, tidy
from engine.types import Segment, Word

_APART_MS = 3_000  # a silence that no cue bridges
_INNER_PAUSE_MS = 1_200  # within a cue, words behind such a pause are read too early
_EARLIER_MS = 250  # a cue that would be too short, or too fast, may begin so much before its first word
_ROOM_MS = 100  # a cue is not shown more briefly, unless the audio is shorter
_ROUNDING = 1  # ms


@dataclass(frozen=True, slots=True)
class Cue:
    """What stands on the screen from `start` to `end`, and which rules it breaks."""

    start: int
    end: int
    lines: tuple[str, ...]
    words: tuple[Word, ...] = ()
    speaker: str | None = None
    language: str | None = None
    warnings: tuple[Warning_, ...] = ()

    @property
    def text(self) -> str:
        """Its lines."""
        return "\n".join(self.lines)


def cues(segments: Iterable[Segment], duration: int | None, rules: CueRules) -> list[Cue]:
    """The cues of a transcript: in order, within [0, `duration`], none overlapping; no word is lost."""
    valid = list(_named(normalise(segments, duration), rules))
    if not rules.characters:
        return [_as_it_is(segment) for segment in valid]
    atoms = atoms_of(valid)
    groups = _with_room([group for run in _runs(atoms) for group in _divided(run, rules)], duration)
    times = _times(groups, duration, rules)
    made = [_cue(group, *time, rules) for group, time in zip(groups, times, strict=True)]
    return list(_judged(made, rules))


def _named(segments: Iterable[Segment], rules: CueRules) -> Iterator[Segment]:
    """The same segments; where another one begins to speak, the name or a dash stands before the text."""
    before: str | None = None
    for segment in segments:
        speaker = " ".join(tidy(segment.speaker or "").split())
        sign = {"names": f"{speaker}: ", "dashes": "– ", "none": ""}[rules.speakers]
        yield _with_sign(segment, sign) if speaker and segment.speaker != before else segment
        before = segment.speaker


def _with_sign(segment: Segment, sign: str) -> Segment:
    """The sign belongs to the first word, so that nothing comes between them."""
    words = segment.words
    if words:
        words = (replace(words[0], text=f" {sign}{words[0].text.strip()}"), *words[1:])
    return replace(segment, text=sign + segment.text.lstrip(), words=words)


def _as_it_is(segment: Segment) -> Cue:
    lines = tuple(segment.text.split("\n"))
    return Cue(segment.start, segment.end, lines, segment.words, segment.speaker, segment.language)


def _runs(atoms: Sequence[Atom]) -> Iterator[list[Atom]]:
    """Stretches that share no cue: another one speaks, or there was a long silence."""
    run: list[Atom] = []
    for atom in atoms:
        if run and (atom.source.speaker != run[-1].source.speaker or atom.start - run[-1].end >= _APART_MS):
            yield run
            run = []
        run.append(atom)
    if run:
        yield run


def _divided(run: Sequence[Atom], rules: CueRules) -> list[list[Atom]]:
    """The cheapest division of a run into groups; each atom ends one group at most."""
    shape = _Shape(run, rules)
    best = [0.0] + [float("inf")] * len(run)
    begun = [0] * (len(run) + 1)
    for end in range(1, len(run) + 1):
        for start in range(end - 1, -1, -1):
            if end - start > 1 and shape.width(start, end) > rules.characters * rules.lines:
                break
            cost = best[start] + shape.cost(start, end)
            if cost < best[end]:
                best[end], begun[end] = cost, start
    bounds = [len(run)]
    while bounds[-1]:
        bounds.append(begun[bounds[-1]])
    return [list(run[start:end]) for start, end in pairwise(reversed(bounds))]


class _Shape:
    """The sums over a run that make the cost of any stretch of it cheap."""

    def __init__(self, run: Sequence[Atom], rules: CueRules) -> None:
        self._run, self._rules = run, rules
        widths = [width(atom.glue) + width(atom.text) for atom in run]
        self._columns = [0, *accumulate(widths)]
        self._glue = [width(atom.glue) for atom in run]
        pauses = [max(0, after.start - before.end) for before, after in pairwise(run)]
        self._breaks = [
            break_cost(before.text, after.text, pause)
            for (before, after), pause in zip(pairwise(run), pauses, strict=True)
        ] + [0.0]
        self._ends = [0, *accumulate(int(ends_sentence(atom.text)) for atom in run)]
        long_ones = [max(0, pause - _INNER_PAUSE_MS) for pause in pauses] + [0]
        self._waits = [0, *accumulate(long_ones)]

    def width(self, start: int, end: int) -> int:
        """Columns of the atoms [start, end) on one line."""
        return self._columns[end] - self._columns[start] - self._glue[start]

    def cost(self, start: int, end: int) -> float:
        """What a cue of the atoms [start, end) costs: 1, and more for each thing that is not as it should be."""
        run, rules = self._run, self._rules
        columns = self.width(start, end)
        spoken = run[end - 1].end - run[start].start
        until = run[end].start - rules.gap if end < len(run) else run[end - 1].end + rules.longest
        shown = max(1, min(until - run[start].start, rules.longest))
        cost = 1.0 + 1.5 * self._breaks[end - 1] + 0.25 * (self._ends[end - 1] - self._ends[start])
        cost += (self._waits[end - 1] - self._waits[start]) / 300
        cost += 20 * max(0, spoken - rules.longest) / rules.longest
        cost += _too_much(columns / rules.comfortable * 1000, shown, 1.0)
        cost += _too_much(columns / rules.fastest * 1000, shown, 12.0)
        cost += _too_much(rules.shortest, shown, 8.0)
        cost += 0.4 * max(0.0, 1 - columns / rules.characters)
        return cost + self._fit_cost(start, end, columns)

    def _fit_cost(self, start: int, end: int, columns: int) -> float:
        """Whether it can be divided into lines that fit and are of like length."""
        characters, lines = self._rules.characters, self._rules.lines
        if columns <= characters:
            return 0.0
        if lines == 1 or end - start == 1:
            return 50.0 + columns - characters
        firsts = (self.width(start, at) for at in range(start + 1, end))
        pairs = [(first, self.width(at, end)) for at, first in enumerate(firsts, start + 1)]
        fitting = [pair for pair in pairs if max(pair) <= characters]
        if not fitting:
            return 50.0
        return 0.0 if any(min(pair) >= BALANCE * sum(pair) for pair in fitting) else 6.0


def _with_room(groups: Sequence[list[Atom]], duration: int | None) -> list[list[Atom]]:
    """The same groups; those that begin together, where nothing could be shown one by one, are one."""
    kept: list[list[Atom]] = []
    for group in groups:
        crowded = kept and group[0].start < kept[-1][0].start + _ROOM_MS
        too_late = kept and duration is not None and group[0].start > duration - _ROOM_MS
        if crowded or too_late:
            kept[-1] += group
        else:
            kept.append(group)
    return kept


def _too_much(needed: float, there: int, weight: float) -> float:
    """Nothing while there is enough, then the weight at once and more with what is missing."""
    return weight * (0.3 + needed / there - 1) if needed > there else 0.0


def _times(groups: Sequence[Sequence[Atom]], duration: int | None, rules: CueRules) -> list[tuple[int, int]]:
    """From the first word on; into the pause behind the last one as long as it takes to read."""
    times: list[tuple[int, int]] = []
    for number, group in enumerate(groups):
        start, spoken = group[0].start, group[-1].end
        is_last = number + 1 == len(groups)
        following = duration if is_last else groups[number + 1][0].start - rules.gap
        latest = min(start + rules.longest, spoken + rules.longest if following is None else following)
        wanted = max(spoken, start + rules.shortest, start + round(width(text_of(group)) / rules.comfortable * 1000))
        if following is not None and not is_last and following + rules.gap - wanted < rules.close:
            wanted = following
        end = max(min(wanted, latest), start + 1)
        needed = max(rules.shortest, round(width(text_of(group)) / rules.fastest * 1000))
        earliest = max(0, start - _EARLIER_MS, times[-1][1] + rules.gap if times else 0)
        times.append((min(start, max(earliest, end - needed)), end))
    return times


def _cue(group: Sequence[Atom], start: int, end: int, rules: CueRules) -> Cue:
    words = tuple(word for atom in group for word in atom.words) if all(atom.words for atom in group) else ()
    source = group[0].source
    warnings: list[Warning_] = []
    lines = broken(group, rules)
    if _divides_name(group, lines):
        warnings.append("name")
    return Cue(start, end, lines, words, source.speaker, source.language, tuple(warnings))


def _divides_name(group: Sequence[Atom], lines: Sequence[str]) -> bool:
    ends = [line.split(" ")[-1] for line in lines[:-1]]
    begins = [line.split(" ")[0] for line in lines[1:]]
    return any(divides_name(end, begin) for end, begin in zip(ends, begins, strict=True)) and len(group) > 1


def _judged(made: Sequence[Cue], rules: CueRules) -> Iterator[Cue]:
    """The same cues, with the rules that each one breaks."""
    for number, cue in enumerate(made):
        previous = made[number - 1] if number else None
        broken_rules = (*cue.warnings, *_broken_rules(cue, previous, rules))
        yield Cue(cue.start, cue.end, cue.lines, cue.words, cue.speaker, cue.language, broken_rules)


def _broken_rules(cue: Cue, previous: Cue | None, rules: CueRules) -> Iterator[Warning_]:
    shown, widths = cue.end - cue.start, [width(line) for line in cue.lines]
    if max(widths) > rules.characters:
        yield "wide"
    if len(widths) > rules.lines:
        yield "lines"
    if sum(widths) * 1000 > rules.fastest * (shown + _ROUNDING):
        yield "fast"
    if shown < rules.shortest - _ROUNDING:
        yield "short"
    if shown > rules.longest + _ROUNDING:
        yield "long"
    if previous is not None and cue.start - previous.end < rules.gap:
        yield "close"
    if len(widths) == 2 and min(widths) < BALANCE * sum(widths):
        yield "unbalanced"
    if len(widths) > 1 and any(" " not in line and width(line) == len(line) for line in cue.lines):
        yield "lonely"
