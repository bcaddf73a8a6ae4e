"""The window as a whole: keys, names for screen readers, sizes, light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QColor, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QFileDialog, QLabel, QLineEdit, QWidget

from app.icons import Picture
from app.jobs import Jobs
from app.keys import Keys
from app.look import accent_text, secondary
from app.main_window import MainWindow
from app.settings import Settings
from engine.library import Library
from tests.app.widgets.seen import shown_text
from tests.measure.sample_library import ENGLISH, StillEngine, add_done, dark_palette, fill, notices, segments

OpenWindow = Callable[[], MainWindow]
CTRL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier


def contrast(one: QColor, other: QColor) -> float:
    """WCAG's contrast ratio."""

    def luminance(colour: QColor) -> float:
        channels = (colour.redF(), colour.greenF(), colour.blueF())
        parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.fixture
def keep_palette(qapp: QApplication) -> Iterator[None]:
    before = qapp.palette()
    yield
    qapp.setPalette(before)


def every_widget(window: QWidget) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        if widget.isVisibleTo(window) and not widget.objectName().startswith("qt_"):
            yield widget


def reachable(widget: QWidget) -> bool:
    """Whether a mouse or the Tab key gets somewhere with it."""
    kinds = (QAbstractButton, QLineEdit, QAbstractItemView)
    return isinstance(widget, kinds) or widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus


def name_of(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
    return widget.accessibleName() or text


@pytest.fixture
def full_window(open_window: OpenWindow, library: Library) -> MainWindow:
    ids = fill(library)
    entry = library.entry(ids["english"])
    library.update(entry.id, notices=notices(entry))
    window = open_window()
    window.job_list.select(ids["english"])
    window.toolbar.details.trigger()
    QApplication.processEvents()
    return window


@pytest.mark.parametrize("shown", ["english", "missing", "silent", "cut", "waiting", "running"])
def test_everything_that_can_be_clicked_has_a_name(
    open_window: OpenWindow, library: Library, jobs: Jobs, engine: StillEngine, shown: str
) -> None:
    ids = fill(library)
    window = open_window()
    jobs.queue.start()
    window.job_list.select(ids[shown])
    window.toolbar.details.trigger()
    QApplication.processEvents()
    # Qt's own: the clear button and icon of a line edit, the "more" of a toolbar
    nameless = [repr(widget) for widget in every_widget(window) if reachable(widget) and not name_of(widget).strip()]
    own = [text for text in nameless if "QLineEditIconButton" not in text and "qt_" not in text]
    assert own == []


def test_tab_goes_round_everything(full_window: MainWindow) -> None:
    seen: list[QWidget] = []
    for _press in range(80):
        QTest.keyClick(full_window, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        if focused is None or focused in seen:
            break
        seen.append(focused)
    names = [name_of(widget) for widget in seen]
    expected = [
        "Open",
        "Model: base",
        "Language: auto",
        "Task: transcribe",
        "Export",
        "Details",
        "Search names and text",
    ]
    expected += ["Recordings and transcripts", "Transcript", "base"]
    assert [name for name in expected if name not in names] == []
    names = names[names.index("Open") :] + names[: names.index("Open")]
    assert names.index("Search names and text") < names.index("Recordings and transcripts") < names.index("Transcript")


def test_f6_goes_from_pane_to_pane(full_window: MainWindow) -> None:
    full_window.job_list.view.setFocus()
    seen = []
    for _press in range(4):
        QTest.keyClick(full_window, Qt.Key.Key_F6)
        seen.append(QApplication.focusWidget())
    assert seen == [full_window.page.view, full_window.details, full_window.status.model, full_window.job_list.view]


def test_every_key_is_on_the_list_of_keys_and_none_stands_for_two_things(full_window: MainWindow) -> None:
    keys = Keys(full_window)
    listed = {label.text() for label in keys.findChildren(QLabel)}
    used: list[str] = []
    for action in (*full_window.findChildren(QAction), *full_window.findChildren(QShortcut)):
        sequence = action.shortcut() if isinstance(action, QAction) else action.key()
        if not sequence.isEmpty():
            used.append(sequence.toString(QKeySequence.SequenceFormat.NativeText))
    missing = {key for key in used if key not in listed and key != "Shift+F3"}
    assert missing == set()
    assert sorted(key for key in set(used) if used.count(key) > 1) == []


@pytest.mark.parametrize(
    ("key", "held", "done"),
    [
        (Qt.Key.Key_F, CTRL, lambda window: window.job_list.search.hasFocus()),
        (Qt.Key.Key_F4, NONE, lambda window: not window.details.isVisible()),
        (Qt.Key.Key_M, CTRL, lambda window: window.toolbar.model_menu.isVisible()),
        (Qt.Key.Key_E, CTRL, lambda window: window.export.isVisible()),
        (Qt.Key.Key_L, CTRL, lambda window: window.toolbar.picker.isVisible()),
        (Qt.Key.Key_F1, NONE, lambda window: any(keys.isVisible() for keys in window.findChildren(Keys))),
        (Qt.Key.Key_O, CTRL, lambda window: any(dialog.isVisible() for dialog in window.findChildren(QFileDialog))),
    ],
)
def test_keys_work_anywhere(
    full_window: MainWindow, key: Qt.Key, held: Qt.KeyboardModifier, done: Callable[[MainWindow], bool]
) -> None:
    full_window.page.view.setFocus()
    QTest.keyClick(full_window.page.view, key, held)
    assert done(full_window)
    for popup in (full_window.toolbar.model_menu, full_window.export, full_window.toolbar.picker):
        popup.hide()


def test_ctrl_z_in_the_search_field_undoes_typing_first(full_window: MainWindow, jobs: Jobs) -> None:
    before = len(jobs.entries())
    jobs.remove([jobs.entries()[-1].id])
    full_window.job_list.focus_search()
    QTest.keyClicks(full_window.job_list.search, "bees")
    QTest.keyClick(full_window.job_list.search, Qt.Key.Key_Z, CTRL)
    assert full_window.job_list.search.text() != "bees"
    assert len(jobs.entries()) == before - 1


@pytest.mark.parametrize(("width", "height"), [(900, 600), (1280, 800), (1600, 900)])
def test_nothing_is_cut_off_or_hidden_at_any_size(full_window: MainWindow, width: int, height: int) -> None:
    full_window.resize(width, height)
    QApplication.processEvents()
    assert (full_window.width(), full_window.height()) == (width, height)
    toolbar = full_window.toolbar
    for button in (toolbar.model, toolbar.language, toolbar.task, toolbar.export):
        assert button.isVisible()
        assert toolbar.rect().contains(button.geometry())
        assert button.width() >= button.sizeHint().width()
    for pane in (full_window.job_list, full_window.page, full_window.details):
        left = pane.mapTo(full_window, QPoint(0, 0)).x()
        assert left >= 0
        assert left + pane.width() <= width
    assert full_window.page.view.sheet.text_width > 250


def test_the_text_is_not_stretched_on_a_wide_window(full_window: MainWindow) -> None:
    full_window.toolbar.details.trigger()
    full_window.resize(1600, 900)
    QApplication.processEvents()
    assert full_window.page.view.sheet.text_width < 45 * full_window.fontMetrics().height()


@pytest.mark.usefixtures("keep_palette")
def test_light_and_dark_are_both_easy_to_read_and_change_at_once(full_window: MainWindow, qapp: QApplication) -> None:
    for palette in (qapp.palette(), dark_palette()):
        qapp.setPalette(palette)
        QApplication.processEvents()
        for colour in (secondary(palette), accent_text(palette), palette.text().color()):
            for ground in (palette.base().color(), palette.window().color()):
                assert contrast(colour, ground) >= 4.5
        page = full_window.page.grab().toImage()
        assert page.pixelColor(3, page.height() - 3) == palette.base().color()
        for picture in full_window.findChildren(Picture):
            drawn = picture.pixmap().toImage()
            inked = [drawn.pixelColor(drawn.width() // 2, y) for y in range(drawn.height())]
            for colour in (colour for colour in inked if colour.alpha() == 255):
                assert contrast(colour, palette.base().color()) >= 4.5
        image = full_window.toolbar.open.icon().pixmap(24, 24).toImage()
        strokes = [image.pixelColor(x, y) for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() > 200]
        assert contrast(strokes[0], palette.window().color()) >= 4.5


def test_place_and_size_of_the_window_are_remembered(open_window: OpenWindow, settings: Settings) -> None:
    window = open_window()
    window.resize(731, 611)
    window.close()
    again = open_window()
    again.restoreGeometry(settings.values.geometry)
    assert (again.width(), again.height()) == (731, 611)


def test_an_empty_window_shows_where_to_drop_and_what_it_promises(open_window: OpenWindow) -> None:
    window = open_window()
    assert window.page.empty.isVisible()
    assert not window.job_list.isVisible()
    text = " ".join(label.text() for label in window.page.empty.findChildren(QLabel))
    assert "Drop recordings or videos here" in text
    assert "Nothing leaves this computer." in text
    window.page.empty.button.click()
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    dialog.filesSelected.emit(["/nowhere/a.wav", "/nowhere/b.wav"])
    dialog.reject()
    assert window.job_list.isVisible()
    assert [entry.title for entry in window.job_list.selected_entries()] == ["a.wav"]


def test_reopening_shows_everything_that_was_there(open_window: OpenWindow, library: Library) -> None:
    add_done(library, "first.wav", "en", segments(ENGLISH, 3), 1)
    add_done(library, "second.wav", "en", segments(ENGLISH, 5), 2)
    window = open_window()
    assert window.page.entry is not None
    assert window.page.entry.title == "second.wav"
    assert window.page.model.rowCount() == 5


def test_no_colour_is_written_in_the_code() -> None:
    here = Path(__file__).resolve().parents[3] / "app"
    written = re.compile(r'"#[0-9a-fA-F]{3,8}"|QColor\(\d|setStyleSheet|GlobalColor\.(?!transparent)')
    found = {
        path.name: hits for path in here.glob("*.py") if (hits := written.findall(path.read_text(encoding="utf-8")))
    }
    assert found == {"icons.py": ['"#000"']}  # what the files of the icons have, to be replaced


def test_an_exported_transcript_is_shown_when_it_is_dropped(
    open_window: Callable[[], MainWindow], tmp_path: Path
) -> None:
    path = tmp_path / "old.json"
    said = '{"start": 0, "end": 900, "text": " Good morning."}'
    path.write_text(
        f'{{"version": 1, "source": "talk.wav", "language": "qq", "model": "own", "segments": [{said}]}}', "utf-8"
    )
    window = open_window()
    window.toolbar.details.setChecked(True)
    window.add_files([bytes(path)])
    assert window.page.model.text(0) == "Good morning."
    assert "talk.wav" in shown_text(window.page)
    assert window.toolbar.export.isEnabled()
