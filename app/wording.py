"""Numbers as people say them: times, sizes, speeds, days."""

from __future__ import annotations

from datetime import date, datetime, timedelta


def clock(ms: int) -> str:
    """A place in a file, or how long it is: 0:41, 14:02, 1:38:12."""
    seconds = ms // 1000
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def margin_clock(ms: int) -> str:
    """The same with a fixed width below an hour: 00:41, 14:02, 1:38:12."""
    text = clock(ms)
    return text if len(text) > 4 else f"0{text}"


def exact_clock(ms: int) -> str:
    """With milliseconds: 0:08.240."""
    return f"{clock(ms)}.{ms % 1000:03}"


def time_left(ms: int) -> str:
    """An honest estimate: "about 0:41 left"; above a minute in steps of five seconds, above ten in minutes."""
    step = 1_000 if ms < 60_000 else 5_000 if ms < 600_000 else 60_000
    return f"about {clock(-(-ms // step) * step)} left"


def seconds(ms: int) -> str:
    """A short time for a table: 34 ms, 0.3 s, 12.4 s, 3:05."""
    if ms < 100:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return clock(ms)


def speed(times: float) -> str:
    """26 × real time; slow ones with one decimal."""
    return f"{times:.0f} × real time" if times >= 10 else f"{times:.1f} × real time"


def counted(count: int, one: str, many: str = "") -> str:
    """1 file, 12 files."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def day(moment: int, today: date | None = None) -> str:
    """The day of a moment (milliseconds since the epoch): Today, Yesterday, Monday, 3 June, 3 June 2024."""
    then = datetime.fromtimestamp(moment / 1000).astimezone().date()
    now = today or datetime.now().astimezone().date()
    if then >= now:
        return "Today"
    if then == now - timedelta(days=1):
        return "Yesterday"
    if then > now - timedelta(days=7):
        return f"{then:%A}"
    return f"{then.day} {then:%B}" + (f" {then.year}" if then.year != now.year else "")


def model_label(name: str) -> str:
    """A model by its name, or by the file name when it is a path."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]


def room(minutes: int) -> str:
    """How long the disk will hold: 12 minutes, 34 hours."""
    return counted(minutes, "minute") if minutes < 120 else counted(minutes // 60, "hour")
