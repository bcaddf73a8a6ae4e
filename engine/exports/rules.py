"""What subtitles have to keep to, by the name of whose rules they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Speakers: TypeAlias = Literal["names", "dashes", "none"]
Warning_: TypeAlias = Literal["wide", "lines", "fast", "short", "long", "close", "unbalanced", "lonely", "name"]


@dataclass(frozen=True, slots=True)
class CueRules:
    """Widths in columns: a character of Chinese, Japanese or Korean takes two. Times in ms."""

    name: str
    characters: int = 42  # a line; 0: lines are left as they are, and so are the cues
    lines: int = 2
    comfortable: float = 17.0  # columns a second that are aimed at …
    fastest: float = 20.0  # … and that may be
    shortest: int = 1_000
    longest: int = 7_000
    gap: int = 83  # between two cues that follow each other: two frames at 24 a second
    close: int = 500  # a pause up to this is closed to `gap`, else the screen flickers
    speakers: Speakers = "names"
    karaoke: bool = False  # the words light up one by one, where the format can

    @property
    def label(self) -> str:
        """For a menu: its name and what it comes to."""
        if not self.characters:
            return "Plain: as it was transcribed"
        lines = "one line" if self.lines == 1 else f"{self.lines} lines"
        name = self.name.upper() if self.name == "bbc" else self.name.capitalize()
        return f"{name}: {lines} of {self.characters} characters, up to {self.longest / 1000:g} s"


# Netflix, Timed Text Style Guide, General Requirements and English (USA): 42 characters, 2 lines, 20 characters a
# second for adults and 17 for children, 5/6 s to 7 s, 2 frames between cues, which are closed below half a second.
_NETFLIX = CueRules("netflix", shortest=833)
# BBC Subtitle Guidelines: 37 characters on teletext, two lines, 160 to 180 words a minute, which is about 15 to 17
# characters a second; gaps below 1.5 s are closed.
_BBC = CueRules("bbc", characters=37, comfortable=15.0, fastest=17.0, gap=40, close=1_500, speakers="none")
# Upright video: a few words at a time, in the pace of the voice.
_SOCIAL = CueRules(
    "social", characters=22, lines=1, comfortable=25.0, fastest=40.0, shortest=300, longest=3_000, gap=0, close=300,
    speakers="none", karaoke=True,
)  # fmt: skip
_PLAIN = replace(_NETFLIX, name="plain", characters=0, gap=0, close=0)

PRESETS: dict[str, CueRules] = {rules.name: rules for rules in (_NETFLIX, _BBC, _SOCIAL, _PLAIN)}
DEFAULT = "netflix"

SENTENCES: dict[Warning_, str] = {
    "wide": "A line is too long.",
    "lines": "There are too many lines.",
    "fast": "There is too little time to read it.",
    "short": "It is shown too briefly.",
    "long": "It is shown too long.",
    "close": "It follows the one before too closely.",
    "unbalanced": "Its lines are of very different length.",
    "lonely": "A line has a single word.",
    "name": "A name is divided between two lines.",
}
