"""The audio tracks of a file, the one that is meant, and names for them that people understand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from av.audio.codeccontext import AudioCodecContext
from av.audio.stream import AudioStream
from av.stream import Disposition

from engine.errors import Code, EngineError

# ISO 639-1, 639-2/B and 639-2/T codes of the languages found most in media files; others keep their code.
_LANGUAGES = {
    "Arabic": "ar ara",
    "Bulgarian": "bg bul",
    "Catalan": "ca cat",
    "Chinese": "zh chi zho cmn yue",
    "Croatian": "hr hrv",
    "Czech": "cs cze ces",
    "Danish": "da dan",
    "Dutch": "nl dut nld",
    "English": "en eng",
    "Estonian": "et est",
    "Finnish": "fi fin",
    "French": "fr fre fra",
    "German": "de ger deu",
    "Greek": "el gre ell",
    "Hebrew": "he heb iw",
    "Hindi": "hi hin",
    "Hungarian": "hu hun",
    "Icelandic": "is ice isl",
    "Indonesian": "id ind",
    "Italian": "it ita",
    "Japanese": "ja jpn",
    "Korean": "ko kor",
    "Latvian": "lv lav",
    "Lithuanian": "lt lit",
    "Malay": "ms may msa",
    "Norwegian": "no nor nb nob nn nno",
    "Persian": "fa per fas",
    "Polish": "pl pol",
    "Portuguese": "pt por",
    "Romanian": "ro rum ron",
    "Russian": "ru rus",
    "Serbian": "sr srp",
    "Slovak": "sk slo slk",
    "Slovenian": "sl slv",
    "Spanish": "es spa",
    "Swedish": "sv swe",
    "Tamil": "ta tam",
    "Thai": "th tha",
    "Turkish": "tr tur",
    "Ukrainian": "uk ukr",
    "Urdu": "ur urd",
    "Vietnamese": "vi vie",
    "Welsh": "cy wel cym",
}
_LANGUAGE_OF = {code: name for name, codes in _LANGUAGES.items() for code in codes.split()}
_NO_LANGUAGE = frozenset({"", "und", "mul", "mis", "zxx"})
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Track:
    """One audio track. `index` counts the file's audio tracks from 1; `codec` is "" for one that cannot be read."""

    index: int
    codec: str
    language: str  # as the file has it, e.g. "eng"; "" when it does not say
    title: str
    channels: int  # 0 when not known before decoding
    rate: int  # Hz; 0 when not known before decoding
    default: bool

    @property
    def name(self) -> str:
        """For people: "2: English, stereo"."""
        language = "" if self.language in _NO_LANGUAGE else _LANGUAGE_OF.get(self.language[:3], self.language)
        sound = {0: "", 1: "mono", 2: "stereo"}.get(self.channels, f"{self.channels} channels")
        said = ", ".join(part for part in (language, sound, self.title) if part)
        return f"{self.index}: {said or 'audio'}"


def tracks_of(streams: Sequence[AudioStream]) -> tuple[Track, ...]:
    """The tracks of a file in its own order."""
    return tuple(_track(index, stream) for index, stream in enumerate(streams, start=1))


def choose(tracks: Sequence[Track], wanted: int | None) -> Track:
    """The track number `wanted`, or the file's default one, or the first that can be read.

    EngineError NO_AUDIO when there is none, NO_SUCH_TRACK when there are only others.
    """
    if not tracks:
        raise EngineError(Code.NO_AUDIO)
    if wanted is not None:
        if not 1 <= wanted <= len(tracks):
            raise EngineError(Code.NO_SUCH_TRACK, f"It has {_counted(len(tracks))}.")
        return tracks[wanted - 1]
    readable = [track for track in tracks if track.codec]
    default = [track for track in readable if track.default]
    return (*default, *readable, *tracks)[0]


def _track(index: int, stream: AudioStream) -> Track:
    context = cast("AudioCodecContext | None", stream.codec_context)  # None: FFmpeg has no decoder for it
    return Track(
        index=index,
        codec=context.name if context else "",
        language=_plain(stream.language or ""),
        title=_plain(stream.metadata.get("title", "")),
        channels=context.channels if context else 0,
        rate=context.sample_rate if context else 0,
        default=bool(stream.disposition & Disposition.default),
    )


def _counted(tracks: int) -> str:
    return "one track" if tracks == 1 else f"{tracks} tracks"


def _plain(text: str) -> str:
    """A tag of the file on one short line, without control and direction characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"
