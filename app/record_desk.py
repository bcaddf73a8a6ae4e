"""Everything to record with, put together: the button and its key, the microphones, the recording and its panel."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QToolButton

from app.caption_window import CaptionWindow
from app.dictation import Dictation
from app.dictation_menu import DictationMenu
from app.held_key_client import HeldKey
from app.held_key_dialog import HeldKeyDialog
from app.icons import set_icon
from app.jobs import Jobs
from app.microphone_menu import MicrophoneMenu
from app.microphone_permission import MicrophonePermission
from app.microphones import Microphones
from app.push_to_talk import PushToTalk
from app.record_panel import RecordPanel
from app.recording import Recording
from app.settings import Settings
from app.toolbar import Toolbar


class RecordDesk(QObject):
    """`begun`: the entry of a new recording is there."""

    begun = Signal(int)

    def __init__(self, jobs: Jobs, settings: Settings, data: Path, toolbar: Toolbar, parent: QObject) -> None:
        super().__init__(parent)
        self._settings, self._toolbar = settings, toolbar
        permission = MicrophonePermission(self)
        self.recording = Recording(jobs, data, permission, self)
        self._microphones = Microphones(data, self)
        self.dictation = Dictation(self.recording, settings, self)
        self.dictation_menu = DictationMenu(settings)
        self.held_key = HeldKey(data, self)
        self.push_to_talk = PushToTalk(self.held_key, self.recording, self.dictation, settings, self._start)
        self.dictation_menu.hold_key.triggered.connect(lambda: HeldKeyDialog(self.held_key, settings, toolbar).open())
        self._menu = MicrophoneMenu(self._microphones, settings, self.dictation_menu)
        self.captions: CaptionWindow | None = None  # made when it is first asked for
        self.dictation_menu.captions.toggled.connect(self._show_captions)
        self.panel = RecordPanel(self.recording, self._menu, permission)
        self._entry: int | None = None
        self.panel.again.connect(self.toggle)
        self._menu.chosen.connect(self.recording.use_device)
        self.recording.changed.connect(self._show)
        button = toolbar.record
        button.setMenu(self._menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(self.toggle)

    def toggle(self) -> None:
        """Record with the settings of the toolbar; or stop."""
        if self.recording.is_open or self.recording.state == "starting":
            self.recording.stop()
        else:
            self._start()

    def begin(self) -> None:
        """Once, when the window is there: the key that was chosen is watched."""
        self.held_key.watch(self._settings.values.held_key)

    def _start(self) -> None:
        now = self._settings.values
        self.recording.start(self._toolbar.options(), now.microphone, now.channel)

    def stop(self) -> None:
        """At the window's end, when no recorder runs any more."""
        self._microphones.stop()
        self.held_key.stop()
        if self.captions is not None:
            self.captions.close()

    def _show_captions(self, wanted: bool) -> None:
        if self.captions is None:
            self.captions = CaptionWindow(self.recording, self._settings)
            self.captions.closed.connect(lambda: self.dictation_menu.captions.setChecked(False))
        self.captions.setVisible(wanted)

    def _show(self) -> None:
        is_on = self.recording.is_open or self.recording.state == "starting"
        button = self._toolbar.record
        if (button.text() == "Stop") != is_on:
            button.setText("Stop" if is_on else "Record")
            button.setAccessibleName(button.text())
            set_icon(button, "stop" if is_on else "record")
        if self.recording.entry_id is not None and self.recording.entry_id != self._entry:
            self._entry = self.recording.entry_id
            self.begun.emit(self._entry)
