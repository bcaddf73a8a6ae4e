"""Whether what came of an odd file is what its `check` asks for; see ../shared/audio/README.md."""

from __future__ import annotations

from recordings import OddFile
from runs import Result
from score import score, units

_LONGEST_SECONDS = 60.0
_FEWEST_WORDS = 3


def broken_checks(odd: OddFile, result: Result) -> list[str]:
    """The parts of the check that do not hold, each with what was found."""
    return [f"{part} ({found})" for part in odd.check.split(";") if (found := _breach(part, odd, result))]


def _breach(part: str, odd: OddFile, result: Result) -> str:
    """What is wrong, or nothing."""
    if part.startswith("error:"):
        return "" if result.error in part[6:].split("|") else result.error or f"no error, text {result.text[:60]!r}"
    if part == "ok":
        return "" if result.seconds < _LONGEST_SECONDS else f"{result.seconds:.0f} s"
    if result.error:
        return f"error {result.error}"
    if part == "empty":
        return "" if not result.text and result.outcome == "no_speech" else f"{result.outcome}: {result.text[:80]!r}"
    return _text_breach(part, odd, result)


def _text_breach(part: str, odd: OddFile, result: Result) -> str:
    kind, _, limit = part.partition("<=") if "<=" in part else part.partition(">=")
    if kind == "wer":
        rate = score(result.text, odd.expected, "en").rate
        return "" if rate <= float(limit) else f"{rate:.2f}: {result.text[:80]!r}"
    if kind == "prefix_wer":
        got = units(result.text, "en")
        start = " ".join(units(odd.expected.replace("(or less)", "").split(" …")[0], "en")[: len(got)])
        rate = score(result.text, start, "en").rate
        return "" if len(got) >= _FEWEST_WORDS and rate <= float(limit) else f"{rate:.2f}: {result.text[:80]!r}"
    if kind == "first_word":
        first = result.first_word
        return "" if first is not None and first >= int(limit) else f"at {first} ms"
    return _occurrence_breach(part, result.text)


def _occurrence_breach(part: str, text: str) -> str:
    kind, word, *bounds = part.split(":")
    count = text.lower().count(word.lower())
    least, most = (int(bounds[0]), int(bounds[1])) if kind == "count" else (1, count)
    if kind not in ("contains", "count"):
        return "a check that is not known"
    return "" if least <= count <= max(most, least) else f"{count} times in {text[:80]!r}"
