"""TTML subtitles for broadcasters and streaming: the text profile of the W3C's IMSC 1.1."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from engine.exports.cues import Cue, cues
from engine.exports.paragraphs import one_line
from engine.exports.rules import CueRules
from engine.exports.spoken import is_right_to_left
from engine.types import Transcript

# Sizes in percent of the picture; a region's text stands at its foot.
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"
    xmlns:ttm="http://www.w3.org/ns/ttml#metadata" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
    ttp:contentProfiles="http://www.w3.org/ns/ttml/profile/imsc1.1/text" ttp:timeBase="media" xml:lang={language}>
  <head>
    <metadata><ttm:title>{title}</ttm:title></metadata>
    <styling>
      <style xml:id="subtitle" tts:fontFamily="proportionalSansSerif" tts:fontSize="100%" tts:lineHeight="125%"
        tts:color="#FFFFFF" tts:backgroundColor="#000000C0" tts:textAlign="center"/>
    </styling>
    <layout>
      <region xml:id="foot" tts:origin="10% 70%" tts:extent="80% 25%" tts:displayAlign="after"/>
    </layout>
  </head>
  <body style="subtitle" region="foot">
    <div>
"""
_TAIL = "    </div>\n  </body>\n</tt>\n"
_RIGHT_TO_LEFT = ' tts:direction="rtl" tts:unicodeBidi="embed"'


def write(transcript: Transcript, rules: CueRules) -> str:
    """Give the text of a .ttml file."""
    title, language = escape(one_line(transcript.source)), quoteattr(transcript.language or "")
    made = cues(transcript.segments, transcript.duration, rules)
    told = (_cue(number, cue, transcript.language) for number, cue in enumerate(made, 1))
    return _HEAD.format(title=title, language=language) + "".join(told) + _TAIL


def _cue(number: int, cue: Cue, usual: str | None) -> str:
    language = f" xml:lang={quoteattr(cue.language)}" if cue.language and cue.language != usual else ""
    direction = _RIGHT_TO_LEFT if is_right_to_left(cue.text) else ""
    text = escape(cue.text).replace("\n", "<br/>")
    times = f'begin="{_clock(cue.start)}" end="{_clock(cue.end)}"'
    return f'      <p xml:id="c{number}" {times}{language}{direction}>{text}</p>\n'


def _clock(ms: int) -> str:
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"
