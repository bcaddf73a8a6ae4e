"""Our own line icons: one stroke width, the palette's colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication, QToolButton

from app import icons
from engine.resource_files import resource

FOLDER = resource("icons")
NAMES = sorted(path.stem for path in FOLDER.glob("*.svg") if path.stem != "sottovoce")
SOURCE = "".join(path.read_text(encoding="utf-8") for path in (FOLDER.parent.parent / "app").glob("*.py"))


def colours_of(image: QImage) -> set[str]:
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("name", NAMES)
def test_an_icon_is_drawn_with_lines_of_one_width_and_one_colour(qapp: QApplication, name: str) -> None:
    drawing = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert re.findall(r'stroke-width="([^"]+)"', drawing) == ["1.7"]
    assert re.findall(r'fill="([^"]+)"', drawing) == ["none"]
    assert colours_of(icons.pixmap(name, QColor("#ff0000"), 64).toImage()) == {"#ff0000"}


@pytest.mark.parametrize("name", NAMES)
def test_no_icon_lies_about_unused(name: str) -> None:
    assert f'"{name}"' in SOURCE


def test_icons_turn_light_when_the_window_turns_dark(qapp: QApplication, qtbot: object) -> None:
    before = qapp.palette()
    holder = QToolButton()
    button = QToolButton(holder)
    icons.set_icon(button, "open")
    dark = QPalette(QColor("#303030"))
    try:
        qapp.setPalette(dark)
        icons.recolour(holder)
        image = button.icon().pixmap(24, 24).toImage()
        assert max(QColor(name).lightness() for name in colours_of(image)) > 200
    finally:
        qapp.setPalette(before)


def test_the_program_has_a_picture(qapp: QApplication) -> None:
    assert not icons.app_icon().pixmap(64, 64).isNull()


def test_a_resource_that_is_missing_is_said() -> None:
    with pytest.raises(FileNotFoundError):
        resource("icons", "no such icon.svg")
    assert isinstance(resource("icons"), Path)
