"""Invented recordings, and an engine that says only what it is told: for pictures and measurements."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtGui import QColor, QPalette

from app.engine_client import EngineClient
from engine.errors import Code
from engine.library import Entry, Library
from engine.protocol import Event, Job, Notice
from engine.types import Options, Phase, Segment, Timings, Word

MINUTE = 60_000
DAY = 24 * 60 * MINUTE

ENGLISH = """
Good morning, and thank you for letting me come up here so early. | You have to come early. By ten the bees are
busy and they do not care for visitors. | How many hives are there on this slope? | Thirty-one since last week.
There were forty before the wet spring, and I am not complaining, because the ones that came through are strong.
| Is that the weather, or is there something else behind it? | People always want one cause. | It was the rain
in April, then a cold May with nothing in flower, and then everything at once. A colony can live with any one of
these. | So what did you do? | I did nothing. That is the hardest part of this work, to stand beside a box and
do nothing. | My grandfather used to say that a beekeeper is someone who is paid for leaving things alone. | Can
we open one? | This one, yes. Stand there, with the sun behind you, so that your shadow does not fall on them. |
You hear that? It is a low sound, almost like an engine a long way off. That means they have a queen and are
content. | And when they are not? | Then it is higher, and broken, like a crowd at a station when the train has
been cancelled. | I had no idea that you could hear the difference. | You can learn to hear anything if you have
to. The young man who helps me plays the cello; he heard it on the first day. | Look, here at the edge: that is
this year's lime honey, almost white. 🍯 | It tastes of mint. | It does, for about three weeks. After that it is
only sweet. | What will you do with the empty boxes? | Clean them, put them in the sun, and wait until somebody
calls because there is a swarm in a chimney. | Does that happen often? | Twice a week in June. The fire brigade
has my number. | Then let us hope for a warm one.
"""
JAPANESE = """
おはようございます。今日は朝の市場に来ています。 |
まだ五時なのに、もうたくさんの人が集まっていますね。 |
はい、いちばん忙しいのは六時ごろです。魚が全部並ぶまでは、誰もゆっくり話す時間がありません。 |
この箱に書いてある番号は何ですか。 |
それは船の番号です。どの船がいつ、どこで獲ったのか、番号を見ればすぐに分かります。 |
なるほど、よく考えられた仕組みですね。 |
昔は紙に書いていましたが、雨の日は字が消えてしまって大変でした。
"""
ARABIC = """
صباح الخير، نحن اليوم في حديقة صغيرة خلف المدرسة القديمة. | زرعها الطلاب بأنفسهم قبل ثلاث سنوات، ولم يكن هنا سوى
الحجارة. | من أين جاءت الفكرة؟ | من جدة أحد الطلاب، كانت تقول إن البيت الذي لا ظل له لا يزوره أحد. | والآن عندنا
تين ورمان ونعناع، ونوزع ما يزيد منها على الجيران كل يوم خميس.
"""
GERMAN = """
Ich spreche das schnell ein, bevor ich es wieder vergesse. | Der Schlüssel für das Bootshaus liegt nicht mehr
unter dem Stein, sondern hängt jetzt innen am Fenster. | Bitte die Pumpe erst nach dem Regen einschalten. | Und
falls jemand nach mir fragt: Ich bin am Donnerstag zurück.
"""


class StillEngine(EngineClient):
    """No process at all: what `say` is given counts as its answer."""

    def start(self) -> None:
        """There is nothing to have ready."""

    def begin(self, command: Job) -> None:
        """Take a file and be silent."""

    def say(self, *events: Event) -> None:
        """Let events arrive in one turn."""
        self.events.emit(events)


def sentences(text: str) -> list[str]:
    """The sentences of one of the texts above."""
    return [" ".join(part.split()) for part in text.split("|")]


def segments(text: str, count: int, start: int = 0) -> list[Segment]:
    """So many segments of a text, which begins anew when it is through; times as at a calm pace, with words."""
    parts = sentences(text)
    made: list[Segment] = []
    for number in range(count):
        part = parts[number % len(parts)]
        length = max(1_200, 75 * len(part.encode()))
        made.append(Segment(start, start + length, f" {part}", words(part, start, length), avg_logprob=-0.2))
        start += length + 240
    return made


def words(text: str, start: int, length: int) -> tuple[Word, ...]:
    """Words of a sentence, evenly spread."""
    parts = text.split()
    step = length // len(parts)
    return tuple(
        Word(start + place * step, start + (place + 1) * step, f" {part}", 0.9) for place, part in enumerate(parts)
    )


def timings(total: int, audio: int) -> Timings:
    """A timing table as a run on a small laptop has it."""
    shares = (("decode file", 0.03), ("find speech", 0.05), ("log-mel", 0.02), ("encode", 0.55), ("decode text", 0.33))
    runs = max(1, audio // 28_000)
    phases = tuple(Phase(name, round(total * share), runs) for name, share in shares)
    buffers = {"weights": 147_400_000, "self KV": 6_300_000, "cross KV": 18_900_000, "compute": 96_500_000}
    return Timings(total, audio, phases, buffers, 412_000_000)


def add_done(
    library: Library, title: str, language: str, said: list[Segment], created: int, probability: float | None = 0.98
) -> Entry:
    """A finished transcript."""
    entry = library.add(f"/recordings/{title}".encode(), Options(words=True), created)
    library.segments.append(entry.id, *said)
    duration = said[-1].end + 1_300 if said else 4 * MINUTE
    return library.update(
        entry.id,
        state="done",
        outcome="text" if said else "no_speech",
        duration=duration,
        language=language if said else None,
        language_probability=probability if said else None,
        model="base",
        backend="whisper.cpp",
        device="CPU",
        reason="no GPU in this build",
        load_ms=312,
        speech=round(duration * 0.86) if said else 0,
        peak_dbfs=-3.2 if said else -62.0,
        timings=timings(duration // 26, duration),
    )


def fill(library: Library, now: int | None = None) -> dict[str, int]:
    """The entries of the pictures; ids by what they show."""
    now = int(time.time() * 1000) if now is None else now
    old = now - 11 * DAY
    for number, name in enumerate(
        ("Choir rehearsal.wav", "Seminar 3, water law.mp4", "Board meeting, part 2 of 2.m4a")
    ):
        add_done(library, name, "en", segments(ENGLISH, 12), old + number * MINUTE)
    arabic = add_done(library, "مقابلة عن الحدائق.mp3", "ar", segments(ARABIC, 20), now - DAY - 60 * MINUTE, 0.97)
    silent = add_done(library, "Empty hall, room tone.wav", "", [], now - DAY - 30 * MINUTE)
    cut = _cut_off(library, now - DAY - 10 * MINUTE)
    japanese = add_done(library, "朝の市場、対談.m4a", "ja", segments(JAPANESE, 28), now - 50 * MINUTE, 0.99)
    german = add_done(library, "Memo Bootshaus.ogg", "de", segments(GERMAN, 4), now - 40 * MINUTE, 0.93)
    missing = library.add(b"/media/stick/Harbour office call.wav", Options(words=True), now - 30 * MINUTE)
    library.update(
        missing.id, state="failed", error=Code.NOT_FOUND, error_detail="/media/stick/Harbour office call.wav"
    )
    english = add_done(
        library, "Interview with a beekeeper.m4a", "en", _flagged(segments(ENGLISH, 90)), now - 20 * MINUTE
    )
    running = library.add(b"/recordings/Lecture 7, tides and moons.mp4", Options(words=True), now - 3 * MINUTE)
    waiting = library.add(b"/recordings/Lecture 8, how rivers remember.mp4", Options(words=True), now - 2 * MINUTE)
    return {
        "arabic": arabic.id, "silent": silent.id, "cut": cut.id, "japanese": japanese.id, "german": german.id,
        "missing": missing.id, "english": english.id, "running": running.id, "waiting": waiting.id,
    }  # fmt: skip


def _cut_off(library: Library, created: int) -> Entry:
    entry = library.add(
        "/recordings/Podcast pilot 😀 final mix, second take.mkv".encode(), Options(words=True), created
    )
    said = segments(ENGLISH, 40)
    library.segments.append(entry.id, *said)
    library.segments.settle(entry.id, said[-1].end)
    return library.update(
        entry.id, state="interrupted", duration=said[-1].end * 3, language="en", language_probability=0.99
    )


def _flagged(said: list[Segment]) -> list[Segment]:
    """One of them repeats itself."""
    odd = said[5]
    said[5] = Segment(odd.start, odd.end, odd.text, odd.words, flags=("repeats",))
    return said


def notices(entry: Entry) -> tuple[Notice, ...]:
    """What a run may have noticed."""
    return (Notice(entry.id, "quiet", "−38 dBFS"), Notice(entry.id, "uncovered", "", 95_000, 101_400))


def folder_of(path: Path) -> Path:
    """A data folder that has a model called base, as far as the toolbar looks."""
    models = path / "models"
    models.mkdir(parents=True, exist_ok=True)
    for name in ("tiny.en", "base", "small-q5_1"):
        (models / f"ggml-{name}.bin").write_bytes(b"")
    return path


def dark_palette() -> QPalette:
    """The palette that Qt's Fusion style has in the dark; without a desktop there is nobody to ask for it."""
    palette = QPalette(QColor("#323232"))
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Base, "#242424"),
        (roles.AlternateBase, "#2b2b2b"),
        (roles.ToolTipBase, "#3c3c3c"),
        (roles.Highlight, "#308cc6"),
        (roles.HighlightedText, "#ffffff"),
        (roles.Accent, "#308cc6"),
        (roles.Link, "#308cc6"),
    ):
        palette.setColor(role, QColor(colour))
    for role in (roles.Text, roles.WindowText, roles.ButtonText, roles.ToolTipText):
        palette.setColor(role, QColor("#ffffff"))
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor("#9d9d9d"))
    palette.setColor(roles.PlaceholderText, QColor(255, 255, 255, 128))
    return palette
