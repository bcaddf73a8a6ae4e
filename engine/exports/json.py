"""Our own format: everything that is known of a transcript, and whatever others have added to it.

    {"version": 1, "source", "duration", "language", "model", "backend",
     "segments": [{"start", "end", "text", "speaker", "language",
                   "words": [{"start", "end", "text", "probability"}] or null,
                   "avg_logprob", "no_speech_prob", "flags": [text] if there are any}],
     "timings": {"total", "audio", "phases", "buffers", "peak_memory"} or null}

Times are integer milliseconds, null is what is not known. Each segment stands on a line of its own.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from engine.errors import Code, EngineError
from engine.types import Transcript

if TYPE_CHECKING:
    from engine.types import Segment

VERSION = 1

_TOP = ("source", "duration", "language", "model", "backend")
_SEGMENT = ("start", "end", "text", "speaker", "language", "words", "avg_logprob", "no_speech_prob")
_WORD = ("start", "end", "text", "probability")
_TIMINGS = ("total", "audio", "phases", "buffers", "peak_memory")

Object: TypeAlias = dict[str, Any]


def write(transcript: Transcript) -> str:
    """Give the text of a .json file."""
    extra = dict(transcript.extra)
    more = _object(extra.pop("timings", None))
    timings = msgspec.to_builtins(transcript.timings) | more if transcript.timings else None
    members = {"version": VERSION} | {name: getattr(transcript, name) for name in _TOP}
    lines = [_member(name, value) for name, value in members.items()]
    segments = ",".join(f"\n  {_text(_written(segment))}" for segment in transcript.segments)
    lines.append(f'"segments": [{segments}\n ]')
    lines += [_member(name, value) for name, value in ({"timings": timings} | extra).items()]
    return "{\n" + "".join(f" {line},\n" for line in lines)[:-2] + "\n}\n"


def read(text: str) -> Transcript:
    """Read what `write` wrote, or another program in this format; EngineError NOT_A_TRANSCRIPT for anything else.

    Unknown keys are kept in `extra`. Those of single words and of the timings, which have no `extra`, are
    there too, under "words" and "timings".
    """
    try:
        top = msgspec.json.decode(text.removeprefix("\ufeff"), type=Object)
        version = top.pop("version", None)
        if version is True or version != VERSION:
            raise EngineError(Code.NOT_A_TRANSCRIPT, f"Its version is {version}; version {VERSION} can be read.")
        return msgspec.convert(_read_top(top), Transcript)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError) as error:
        raise EngineError(Code.NOT_A_TRANSCRIPT, str(error)) from error


def _written(segment: Segment) -> Object:
    values: Object = {name: getattr(segment, name) for name in _SEGMENT} | {"words": _written_words(segment) or None}
    if segment.flags:
        values["flags"] = segment.flags
    return values | {name: value for name, value in segment.extra.items() if name not in values}


def _written_words(segment: Segment) -> list[Object]:
    extras = segment.extra.get("words")
    extras = extras if isinstance(extras, list) and len(extras) == len(segment.words) else []
    pairs = zip_longest(segment.words, extras)
    return [{name: getattr(word, name) for name in _WORD} | _object(extra) for word, extra in pairs]


def _read_top(top: Object) -> Object:
    known = {name: top.pop(name, None) for name in (*_TOP, "segments", "timings")}
    known["source"] = "" if known["source"] is None else known["source"]
    known["segments"] = [_read_segment(segment) for segment in msgspec.convert(known["segments"], list[Object])]
    more = _unknown(_object(known["timings"]), _TIMINGS)
    return known | {"extra": top | ({"timings": more} if more else {})}


def _read_segment(found: Object) -> Object:
    values = {name: value for name, value in found.items() if name in {*_SEGMENT, "flags"} and value is not None}
    words = [_unknown(word, _WORD) for word in msgspec.convert(values.get("words", []), list[Object])]
    extra = _unknown(found, (*_SEGMENT, "flags"))
    return values | {"extra": extra | ({"words": words} if any(words) else {})}


def _unknown(found: Object, known: tuple[str, ...]) -> Object:
    return {name: value for name, value in found.items() if name not in known}


def _object(value: object) -> Object:
    return cast(Object, value) if isinstance(value, dict) else {}


def _member(name: str, value: object) -> str:
    return f"{_text(name)}: {_text(value)}"


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
