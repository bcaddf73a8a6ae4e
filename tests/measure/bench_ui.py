"""Times the window: first paint, the longest slot, scrolling, opening, memory: `make bench-ui`.

Exits with 1 when a target of the design is missed. A slot is timed as the event that calls it, with all the slots and
painting that belong to that event; so no slot is longer than what is printed.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))  # `python -P` leaves it out

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication
from sample_library import ENGLISH, StillEngine, add_done, folder_of, segments, timings

from app.jobs import Jobs
from app.main_window import MainWindow
from app.settings import Settings
from engine.folders import library_file
from engine.library import Library
from engine.protocol import Partial, Progress, SegmentEvent, Started, TimingsEvent
from engine.types import Options

STEP_MS = 25  # between two things the reader does
STREAM_MS = 50  # between two messages of the running job: faster than any engine
HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `target` is the most it may be, None for what is only noted."""

    name: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is above its target."""
        return self.target is not None and self.value > self.target


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """Milliseconds of an event; what is not computing is waiting: for the disk, or for other programs."""

    spent: float
    computing: float


class Watched(QApplication):
    """Remembers the longest time that one event took with all its slots, and what the reader did then."""

    def __init__(self) -> None:
        super().__init__([])
        self.longest: dict[str, Slot] = {}
        self.doing = ""
        self._inside = False

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        """Time the outermost events; those within belong to them."""
        if self._inside or not self.doing:
            return super().notify(receiver, event)
        self._inside, doing = True, self.doing
        began, computed = time.perf_counter(), time.thread_time()
        taken = super().notify(receiver, event)
        spent = Slot((time.perf_counter() - began) * 1000, (time.thread_time() - computed) * 1000)
        self._inside = False
        self.longest[doing] = max(self.longest.get(doing, spent), spent)
        return taken


class Bench:
    """A window with a long transcript, in which a job runs."""

    def __init__(self, folder: Path, count: int) -> None:
        self.library = Library.open(library_file(folder_of(folder)), writable=True)
        said = segments(ENGLISH, count)
        self.long = add_done(self.library, "long.wav", "en", said, 1).id
        self.short = add_done(self.library, "short.wav", "en", segments(ENGLISH, 40), 2).id
        self.running = self.library.add(b"/nowhere/running.wav", Options(words=True), 3).id
        self.engine = StillEngine(folder)
        self.jobs = Jobs(self.library, self.engine)
        self.window = MainWindow(self.jobs, Settings(folder / "settings.json"), folder)
        self.window.resize(1600, 900)
        self.window.show()
        self.window.bar.hide()
        self.jobs.queue.start()
        self.engine.say(Started(self.running, HOUR, 1, "", 1))
        self._coming = iter(segments(ENGLISH, 1_000))
        gc.collect()
        gc.freeze()  # what was made for the measurement is not the window's to clean up

    def stream(self) -> None:
        """What the engine says in one moment."""
        segment = next(self._coming)
        self.engine.say(
            Partial(self.running, segment.start, segment.text[: len(segment.text) // 2]),
            SegmentEvent(self.running, segment),
            Progress(self.running, "transcribing", segment.end, HOUR, HOUR - segment.end),
            TimingsEvent(self.running, timings(segment.end // 26 + 1, segment.end)),
        )

    def close(self) -> None:
        """End everything."""
        self.window.close()
        self.jobs.stop()
        self.library.close()


def reader(bench: Bench) -> Iterator[str]:
    """What a reader does, one thing a step; gives its name before the next one."""
    window, view, bar = bench.window, bench.window.page.view, bench.window.page.view.verticalScrollBar()
    yield "open a short transcript"
    window.job_list.select(bench.short)
    yield "open the long transcript"
    window.job_list.select(bench.long)
    while view.rows.rowCount() < bench.library.segments.count(bench.long):
        yield "read it"
    for _step in range(40):
        yield "scroll"
        bar.setValue(bar.value() + 3 * view.sheet.line)
    for part in (0.9, 0.2, 0.6, 0.0):
        yield "jump"
        bar.setValue(round(bar.maximum() * part))
    yield "select all"
    view.select_all()
    yield "copy all"
    view.copy()
    for text in ("bee", "fire brigade", ""):
        yield "search"
        window.job_list.search.setText(text)
        for _step in range(12):
            yield "search"
    for width in (1500, 1100, 900, 1280, 1600):
        yield "resize"
        window.resize(width, 900)
    for _step in range(2):
        yield "details"
        window.toolbar.details.trigger()
    yield "open the running one"
    window.job_list.select(bench.running)
    for _step in range(60):
        yield "follow the running one"
    yield "back to the long one"
    window.job_list.select(bench.long)
    while view.rows.rowCount() < bench.library.segments.count(bench.long):
        yield "read it again"


def longest_slots(application: Watched, count: int, runs: int) -> dict[str, Slot]:
    """The longest event, in milliseconds, by what the reader did; the best of some runs.

    What the window itself does is slow in every run; what other programs do meanwhile is not.
    """
    best: dict[str, Slot] = {}
    for _run in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(Path(folder), count)
            for what, spent in slots_of(application, bench).items():
                best[what] = min(spent, best.get(what, spent))
            bench.close()
    return best


def slots_of(application: Watched, bench: Bench) -> dict[str, Slot]:
    """The longest events of one run."""
    steps = reader(bench)
    stepping, streaming = QTimer(interval=STEP_MS), QTimer(interval=STREAM_MS)

    def step() -> None:
        try:
            application.doing = next(steps)
        except StopIteration:
            application.doing = ""
            application.quit()

    stepping.timeout.connect(step)
    streaming.timeout.connect(bench.stream)
    stepping.start()
    streaming.start()
    application.longest = {}
    application.exec()
    return application.longest


def scroll_step(bench: Bench) -> float:
    """The median time of a scroll step with its painting, in milliseconds."""
    view = bench.window.page.view
    bar, spent = view.verticalScrollBar(), []
    for number in range(300):
        began = time.perf_counter()
        bar.setValue(bar.value() + (-75 if number % 3 == 2 else 75))
        view.viewport().repaint()
        spent.append((time.perf_counter() - began) * 1000)
    return statistics.median(spent)


def opening(bench: Bench) -> tuple[float, float]:
    """From the click to the first page, painted, and to the last segment, which is read behind it; milliseconds."""
    window, count = bench.window, bench.library.segments.count(bench.long)
    window.job_list.select(bench.short)
    QApplication.processEvents()
    began = time.perf_counter()
    window.job_list.select(bench.long)
    window.page.view.viewport().repaint()
    first = time.perf_counter()
    while window.page.model.rowCount() < count:
        QApplication.processEvents()
    return (first - began) * 1000, (time.perf_counter() - began) * 1000


def memory() -> float:
    """What this process holds, in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def first_paint(folder: Path) -> float:
    """From the start of `python -m app` to its first picture, in milliseconds; the best of three."""
    with_library = Library.open(library_file(folder_of(folder)), writable=True)
    for number in range(30):
        add_done(with_library, f"{number}.wav", "en", segments(ENGLISH, 30), number)
    with_library.close()
    spent = []
    for _try in range(3):
        command = [sys.executable, "-P", __file__, "first-paint", str(folder), str(time.time_ns())]
        spent.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return min(spent)


class FirstPaint(QObject):
    """Prints how long ago `began` was when the page has been painted, and ends the program."""

    def __init__(self, began: int) -> None:
        super().__init__()
        self._began = began

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The first picture is out when the loop has its next turn."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._report)
        return False

    def _report(self) -> None:
        print((time.time_ns() - self._began) / 1e6, flush=True)
        os._exit(0)


def paint_first(folder: str, began: int) -> None:
    """In the child: the program as it is, with a look at its first picture."""
    from app import __main__, window_start  # noqa: PLC0415

    watch = FirstPaint(began)

    class Watched(window_start.MainWindow):
        def __init__(self, jobs: Jobs, settings: Settings, data: Path) -> None:
            super().__init__(jobs, settings, data)
            self.page.view.viewport().installEventFilter(watch)

    window_start.MainWindow = Watched  # type: ignore[misc]
    __main__.main(["--data-dir", folder])


def measure(count: int = 10_000, most: int = 20_000, runs: int = 3) -> list[Figure]:
    """All figures of the table."""
    application = Watched()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        figures.append(Figure("first paint of `python -m app`", first_paint(Path(folder)), "ms", 1_500))
    slots = longest_slots(application, count, runs)
    worst = max(slots, key=slots.__getitem__)
    figures.append(Figure(f"longest slot, {count:,} segments and a job", slots[worst].spent, "ms", 50, worst))
    for what, slot in slots.items():
        figures.append(Figure(f"  {what}", slot.spent, "ms", None, f"{slot.computing:.0f} computing"))
    with tempfile.TemporaryDirectory() as folder:
        before = memory()
        bench = Bench(Path(folder), most)
        first, last = opening(bench)
        figures.append(Figure(f"opening {most:,} segments", first, "ms", 1_000, f"all read after {last:.0f} ms"))
        figures.append(Figure("scroll step with painting, median", scroll_step(bench), "ms", 16))
        figures.append(Figure("memory, window and long transcript", memory(), "MB", None, f"{before:.0f} before"))
        bench.close()
    return figures


def main() -> int:
    """Print the table."""
    figures = measure()
    for figure in figures:
        target = f"≤ {figure.target:.0f}" if figure.target else ""
        verdict = "MISSED" if figure.missed else figure.note
        print(f"{figure.name:<44}{figure.value:>9.1f} {figure.unit:<3}{target:>8}  {verdict}")
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"at 1600 × 900, platform {QApplication.platformName()}, load of the machine {load:.1f} a core")
    return int(any(figure.missed for figure in figures))


def print_for_tests() -> None:
    """For the tests: every figure that has a target, from two runs, separated by tabs."""
    for figure in measure(runs=2):
        if figure.target:
            print(figure.name, figure.value, figure.target, sep="\t")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["first-paint", folder, began]:
            paint_first(folder, int(began))
        case ["--for-tests"]:
            print_for_tests()
        case _:
            sys.exit(main())
