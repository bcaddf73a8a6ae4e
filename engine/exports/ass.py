"""Advanced SubStation Alpha 4.00+, as libass reads it: subtitles with a look, and words that light up."""

from __future__ import annotations

from engine.exports.cues import Cue, cues
from engine.exports.paragraphs import one_line
from engine.exports.rules import CueRules
from engine.exports.spoken import marked, word_pieces
from engine.types import Transcript

# Colours are &HAABBGGRR. The secondary one is that of words which are still to come.
_HEAD = """[Script Info]
Title: {title}
ScriptType: v4.00+
WrapStyle: 2
ScaledBorderAndShadow: yes
PlayResX: 1920
PlayResY: 1080

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, \
StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,{size},&H00FFFFFF,&H80FFFFFF,&H00000000,&H80000000,{bold},0,0,0,100,100,0,0,1,3,1,2,80,80,\
{margin},1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""
_WORD_JOINER = "\u2060"


def write(transcript: Transcript, rules: CueRules) -> str:
    """Give the text of an .ass file; its times are hundredths of a second."""
    size, bold, margin = (84, -1, 260) if rules.karaoke else (58, 0, 54)  # upright video has its controls at the foot
    head = _HEAD.format(title=one_line(transcript.source), size=size, bold=bold, margin=margin)
    made = cues(transcript.segments, transcript.duration, rules)
    return head + "".join(_event(cue, rules.karaoke) for cue in made)


def _event(cue: Cue, karaoke: bool) -> str:
    text = (_lit(cue) if karaoke else "") or _escaped(marked(cue.text))
    speaker = one_line(cue.speaker or "").replace(",", ";")  # fields are divided by commas
    return f"Dialogue: 0,{_clock(cue.start)},{_clock(cue.end)},Default,{speaker},0,0,0,,{text}\n"


def _lit(cue: Cue) -> str:
    """Each word with how long it takes until the next one lights up, in hundredths of a second."""
    pieces = word_pieces(cue)
    begins = [word.start for word, _piece in pieces]
    if not pieces:
        return ""
    wait = begins[0] - cue.start
    shown = zip(pieces, begins, [*begins[1:], cue.end], strict=True)
    lit = [f"{{\\k{max(0, end - start) // 10}}}{_escaped(piece)}" for (_word, piece), start, end in shown]
    return (f"{{\\k{wait // 10}}}" if wait >= 10 else "") + "".join(lit)


def _escaped(text: str) -> str:
    """A backslash is kept from what follows it, braces from opening a command."""
    kept = text.replace("\\", f"\\{_WORD_JOINER}").replace("{", "\\{").replace("}", "\\}")
    return kept.replace("\n", "\\N")


def _clock(ms: int) -> str:
    seconds, hundredths = divmod(ms // 10, 100)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{hundredths:02}"
