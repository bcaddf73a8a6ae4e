"""What was said to what would have been written: fillers, words said twice, and the two commands for a new line.

Off unless it is asked for. It changes as little as it can: what could be a real word stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Sounds that are no words in their language. "er" is a German word, "so" and "like" are words everywhere: they stay.
_FILLERS: Mapping[str, str] = {
    "en": "uh uhm um umm er erm hmm mhm",
    "de": "äh ähm öh öhm hm hmm mhm",
    "fr": "euh heu hum hmm",
    "es": "eh em este… mmm",
    "it": "ehm uhm mmm",
    "pt": "hum hã ahn mmm",
    "nl": "eh ehm uh uhm hmm",
}
# Said alone between pauses or at the end of a phrase, they are commands.
_COMMANDS: Mapping[str, tuple[str, str]] = {  # new line, new paragraph
    "en": ("new line", "new paragraph"),
    "de": ("neue zeile", "neuer absatz"),
    "fr": ("à la ligne", "nouveau paragraphe"),
    "es": ("nueva línea", "nuevo párrafo"),
    "it": ("a capo", "nuovo paragrafo"),
    "pt": ("nova linha", "novo parágrafo"),
    "nl": ("nieuwe regel", "nieuwe alinea"),
}
_TWICE = frozenset({"that", "had", "is", "die", "der", "das", "sie", "nous", "vous", "ha", "no", "bye", "very", "sehr"})
_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)?"
_DOUBLED = re.compile(rf"\b({_WORD})(?:\s+\1\b)+", re.IGNORECASE)
_STOPS = ".!?…"


def cleaned(text: str, language: str | None) -> str:
    """The text as it would have been written; languages without rules only lose words that were said twice."""
    text = _without_fillers(text, (language or "").partition("-")[0])
    text = _DOUBLED.sub(lambda match: match.group() if match.group(1).lower() in _TWICE else match.group(1), text)
    text = _with_commands(text, language or "")
    text = re.sub(r"[ \t]+([,.;:!?…])", r"\1", text)
    text = re.sub(r"[ \t]{2,}", " ", text)
    lines = [line.strip(" \t,") for line in text.split("\n")]
    return _with_capitals("\n".join(lines)).strip()


def _without_fillers(text: str, language: str) -> str:
    """A filler goes with the comma behind it; of two commas around it one stays, before a full stop none does."""
    fillers = _FILLERS.get(language, "").replace("…", "").split()
    if not fillers:
        return text
    any_of = "|".join(map(re.escape, fillers))
    text = re.sub(rf",\s*(?:{any_of})\s*(?=,)", "", text, flags=re.IGNORECASE)
    text = re.sub(rf"(?:(?<=\s)|^)(?:{any_of})(?:[,…]|\.{{3}})?(?=\s|$)\s*", "", text, flags=re.IGNORECASE)
    return re.sub(rf",?\s+(?:{any_of})(?=[.!?])", "", text, flags=re.IGNORECASE)


def _with_commands(text: str, language: str) -> str:
    line, paragraph = _COMMANDS.get(language, ("", ""))
    for spoken, written in ((paragraph, "\n\n"), (line, "\n")):
        if spoken:
            edge = r"(?:^|(?<=[,.;:!?…\n]))\s*"
            text = re.sub(rf"{edge}{re.escape(spoken)}\s*(?:[,.;:!?]|$)\s*", written, text, flags=re.IGNORECASE)
    return text


def _with_capitals(text: str) -> str:
    """A capital where a sentence or a line begins; Whisper writes the others."""
    begin = re.compile(rf"(^|\n|[{_STOPS}]\s+)([^\W\d_])")
    return begin.sub(lambda match: match.group(1) + match.group(2).upper(), text)
