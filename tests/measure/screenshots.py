"""Pictures of the window in every state, light and dark, in three sizes: `make screenshots`."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parent))  # `python -P` leaves it out

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QApplication, QWidget
from sample_library import ENGLISH, StillEngine, add_done, dark_palette, fill, folder_of, notices, segments, timings

from app.drop import promise
from app.jobs import Jobs
from app.keys import Keys
from app.main_window import MainWindow
from app.settings import Settings
from engine.folders import library_file
from engine.library import Library
from engine.protocol import Language, Loaded, Partial, Progress, SegmentEvent, Started, TimingsEvent

OUT = Path(__file__).resolve().parents[2] / "build" / "screenshots"
SIZES = ((900, 600), (1280, 800), (1600, 900))


class Scene:
    """A window over its own library."""

    def __init__(self, folder: Path) -> None:
        self.library = Library.open(library_file(folder_of(folder)), writable=True)
        self.engine = StillEngine(folder)
        self.ids: dict[str, int] = {}
        self._folder = folder

    def open(self, shown: str = "") -> MainWindow:
        """A window with an entry on its page."""
        self.jobs = Jobs(self.library, self.engine)
        self.window = MainWindow(self.jobs, Settings(self._folder / "settings.json"), self._folder)
        if shown:
            self.window.job_list.select(self.ids[shown])
        return self.window

    def run(self, until: float) -> None:
        """Let the running job have got so far."""
        job, said = self.ids["running"], segments(ENGLISH, 44)
        total = round(said[-1].end / until)
        self.jobs.queue.start()
        self.engine.say(
            Started(job, total, 1, "", 1),
            Progress(job, "loading", 0, total, None),
            Loaded(job, "base", "whisper.cpp", "CPU", "no GPU in this build", 312, 1_100),
            Language(job, "en", 0.98),
        )
        events = (*(SegmentEvent(job, segment) for segment in said), TimingsEvent(job, timings(11_000, said[-1].end)))
        self.engine.say(*events, Progress(job, "transcribing", said[-1].end, total, 6_700))
        self.engine.say(Partial(job, said[-1].end, " and when the water comes back"))


def empty(scene: Scene) -> QWidget:
    return scene.open()


def running(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("running")
    scene.run(0.62)
    window.bar.hide()
    return window


def scrolled_away(scene: Scene) -> QWidget:
    window = running(scene)
    assert isinstance(window, MainWindow)
    window.resize(1280, 800)
    window.show()
    bar = window.page.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    return window


def loading(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("running")
    scene.jobs.queue.start()
    job = scene.ids["running"]
    scene.engine.say(Started(job, 3_012_000, 2, "Commentary", 2), Progress(job, "loading", 0, 3_012_000, None))
    window.bar.hide()
    return window


def done(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("english")
    window.bar.hide()
    window.page.go_to(36_000)
    return window


def details(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    entry = scene.library.entry(scene.ids["english"])
    scene.library.update(entry.id, notices=notices(entry))
    window = scene.open("english")
    window.bar.hide()
    window.toolbar.details.setChecked(True)
    return window


def japanese(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("japanese")
    window.bar.hide()
    return window


def arabic(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("arabic")
    window.bar.hide()
    return window


def error(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("missing")
    window.bar.hide()
    return window


def no_speech(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("silent")
    window.bar.hide()
    return window


def cut_off(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    return scene.open("cut")


def many(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    created = scene.library.entry(scene.ids["arabic"]).created
    for number in range(120):
        add_done(
            scene.library,
            f"Field recording {number + 1:03}.wav",
            "en",
            segments(ENGLISH, 3),
            created - number * 7_000_000,
        )
    window = scene.open("german")
    window.bar.hide()
    return window


def search(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("english")
    window.bar.hide()
    window.job_list.search.setText("hear")
    window.job_list.search.returnPressed.emit()
    return window


def dropping(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("english")
    window.bar.hide()
    here = [QUrl.fromLocalFile(str(path)) for path in (OUT, Path(__file__), Path(__file__))]
    window.show()
    window.drop._cover(promise(here))
    return window


def keys(scene: Scene) -> QWidget:
    return Keys(scene.open())


def models(scene: Scene) -> QWidget:
    window = scene.open()
    window.show_models()
    assert window.models is not None
    window.models.rows["small"].show_progress(201_000_000)
    return window.models


SCENES: tuple[Callable[[Scene], QWidget], ...] = (
    empty, running, scrolled_away, loading, done, details, japanese, arabic, error, no_speech, cut_off, many,
    search, dropping, keys, models,
)  # fmt: skip


def paint(application: QApplication, scene_of: Callable[[Scene], QWidget], look: str) -> None:
    """Write the pictures of one scene."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        window = scene_of(scene)
        for width, height in SIZES if isinstance(window, MainWindow) else ((0, 0),):
            if width:
                window.resize(width, height)
            window.show()
            for _turn in range(8):
                application.processEvents()
            size = f"-{width}x{height}" if width else ""
            window.grab().save(str(OUT / f"{scene_of.__name__.replace('_', '-')}-{look}{size}.png"))
        window.close()
        scene.jobs.stop()
        scene.library.close()


def main(wanted: list[str]) -> None:
    """Paint all scenes, or those that are named."""
    OUT.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    light = application.palette()
    for look, palette in (("light", light), ("dark", dark_palette())):
        application.setPalette(palette)
        for scene in SCENES:
            if not wanted or scene.__name__ in wanted:
                paint(application, scene, look)
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT}")


if __name__ == "__main__":
    main(sys.argv[1:])
