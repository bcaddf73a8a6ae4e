"""The menu of microphones: the default one, each by its name, and which channel of it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu

from app.microphones import Microphone, Microphones
from app.settings import Settings

_MOST_CHANNELS = 8  # more are shown by nobody's wish


class MicrophoneMenu(QMenu):
    """Shows and changes the settings `microphone` and `channel`; it looks again each time it is opened."""

    chosen = Signal(str)  # a microphone; "" is the default one

    def __init__(self, microphones: Microphones, settings: Settings, more: QMenu) -> None:
        super().__init__("Microphone")
        self._microphones, self._settings, self._more = microphones, settings, more
        self.aboutToShow.connect(microphones.look)
        microphones.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        self.clear()
        found = self._microphones.found
        group = QActionGroup(self)
        default = next((microphone.name for microphone in found if microphone.is_default), "")
        self._add(group, f"The system’s default ({default})" if default else "The system’s default", "")
        for microphone in found:
            self._add(group, microphone.name, microphone.name)
        now = next((one for one in found if one.name == (self._settings.values.microphone or default)), None)
        if now and now.channels > 1:
            self.addSeparator()
            self._add_channels(now)
        self.addSeparator()
        self.addMenu(self._more)

    def _add(self, group: QActionGroup, text: str, name: str) -> None:
        action = self.addAction(text.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(name == self._settings.values.microphone)
        action.triggered.connect(partial(self._choose, name))
        group.addAction(action)

    def _add_channels(self, microphone: Microphone) -> None:
        group = QActionGroup(self)
        for number in range(min(microphone.channels, _MOST_CHANNELS) + 1):
            action = self.addAction(f"Only channel {number}" if number else "All channels, mixed")
            action.setCheckable(True)
            action.setChecked(number == self._settings.values.channel)
            action.triggered.connect(partial(self._choose_channel, number))
            group.addAction(action)

    def _choose(self, name: str, _checked: bool) -> None:
        self._settings.change(microphone=name, channel=0)
        self._fill()
        self.chosen.emit(name)

    def _choose_channel(self, number: int, _checked: bool) -> None:
        self._settings.change(channel=number)
        self._fill()
