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
from app.held_key_dialog import HeldKeyDialog
from app.jobs import Jobs
from app.keys import Keys
from app.main_window import MainWindow
from app.settings import Settings
from engine.errors import Code
from engine.folders import library_file
from engine.library import Library
from engine.notices import RECOVERED
from engine.protocol import Language, Loaded, Notice, Partial, Progress, SegmentEvent, Started, TimingsEvent
from engine.recorder_protocol import Failed, Gap, Level, Opened, Overflow, Silent
from engine.recording import Part, RecordingFacts, write_facts
from engine.types import Options

LOUD = Level(72_000, -9.0, -24.0, True, 5_400)
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
        self.listener = StillEngine(self._folder)
        self.jobs = Jobs(self.library, self.engine, self.listener)
        self.window = MainWindow(self.jobs, Settings(self._folder / "settings.json"), self._folder)
        if shown:
            self.window.job_list.select(self.ids[shown])
        return self.window

    def record(self) -> MainWindow:
        """Somebody has been recording for a minute; the recorder and the engine say what they are told to."""
        self.ids = fill(self.library)
        window = self.open("english")
        folder = self._folder / "recording"
        folder.mkdir()
        write_facts(folder, RecordingFacts("r", 0, "Studio microphone", "recording", (Part("a.wav", 48_000, 1, 0),)))
        recording = window.recording
        recording.state = "starting"
        recording.words.get_ready()
        recording._take(Opened(os.fsencode(folder), "Studio microphone", 48_000, 1, 0))
        job, said = recording.entry_id or 0, segments(ENGLISH, 12)
        self.listener.say(
            Started(job, None, 1, "", 1),
            Loaded(job, "base", "onnx", "CPU (ONNX Runtime int8)", "the fastest here", 310, 1_100),
            Language(job, "en", 0.97),
            *(SegmentEvent(job, segment) for segment in said),
        )
        self.listener.say(Progress(job, "listening", 71_600, 72_000, None))
        self.listener.say(Partial(job, said[-1].end, " the tide comes", "and when the water comes back,"))
        recording._take(LOUD)
        window.bar.hide()
        return window

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


def recording(scene: Scene) -> QWidget:
    return scene.record()


def paused(scene: Scene) -> QWidget:
    window = scene.record()
    window.recording.pause()
    return window


def behind(scene: Scene) -> QWidget:
    window = scene.record()
    recording = window.recording
    scene.listener.say(Progress(recording.entry_id or 0, "listening", 58_000, 72_000, None))
    recording._take(Gap(31_000, 33_400, "lost"))
    recording._take(Overflow(41_000, 2))
    recording._take(LOUD)
    return window


def silent_microphone(scene: Scene) -> QWidget:
    window = scene.record()
    window.recording._take(Level(73_000, -100.0, -100.0, False, 5_400))
    window.recording._take(Silent(73_000))
    return window


def no_permission(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    window = scene.open("english")
    window.bar.hide()
    window.recording.state = "starting"
    window.recording._open(granted=False, device="", channel=0)
    return window


def no_microphone(scene: Scene) -> QWidget:
    window = scene.open()
    recording = window.recording
    recording.state = "starting"
    recording._take(Failed(Code.NO_MICROPHONE))
    recording._recorder_over(None)
    return window


def recovered(scene: Scene) -> QWidget:
    scene.ids = fill(scene.library)
    folder = scene._folder / "recovered"
    folder.mkdir()
    write_facts(folder, RecordingFacts("r", 0, "Studio microphone", "recovered"))
    entry = scene.library.add(os.fsencode(folder), Options())
    scene.library.update(entry.id, title="Recording 14:02", state="interrupted", duration=754_000)
    scene.library.update(entry.id, notices=(Notice(entry.id, RECOVERED),))
    scene.ids["recovered"] = entry.id
    return scene.open("recovered")


def captions(scene: Scene) -> QWidget:
    window = scene.record()
    window.desk.dictation_menu.captions.setChecked(True)
    assert window.desk.captions is not None
    scene.listener.say(Partial(window.recording.entry_id or 0, 0, " the tide comes", "and when the water comes back,"))
    for segment in segments(ENGLISH, 2):
        window.recording.segment.emit(segment)
    window.recording.partial.emit(0, "and when the water comes back,", " the tide comes")
    return window.desk.captions


def held_key(scene: Scene) -> QWidget:
    desk = scene.open().desk
    return HeldKeyDialog(desk.held_key, Settings(scene._folder / "settings.json"), scene.window)


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
    search, dropping, recording, paused, behind, silent_microphone, no_permission, no_microphone, recovered, captions,
    held_key,
    keys, models,
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
