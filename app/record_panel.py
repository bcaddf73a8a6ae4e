"""Above the page while somebody records: the time, the level, what is wrong, and Pause and Stop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFont, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.icons import Picture, set_icon
from app.level_meter import LevelMeter, SpeechLight
from app.look import Label, Quiet, scaled, small, tip, unit
from app.messages import Message
from app.microphone_menu import MicrophoneMenu
from app.microphone_permission import MicrophonePermission
from app.recording import Recording
from app.toolbar import pop_up
from app.wording import clock, room
from engine.recorder_protocol import Level

_STATES = {
    "starting": "Opening the microphone…",
    "recording": "Recording",
    "paused": "Paused: what is said now is left out",
    "finishing": "The sound is safe; its last words are being written down…",
    "failed": "Not recording",
}


class RecordPanel(QFrame):
    """Shown from Start until all is text, and when it failed. `again`: the user wants to try once more."""

    again = Signal()

    def __init__(self, recording: Recording, menu: MicrophoneMenu, permission: MicrophonePermission) -> None:
        super().__init__()
        self._recording, self._permission = recording, permission
        self._said = ""
        self.time, self.state, self.facts = Label("0:00"), Label(), Quiet()
        self.time.setFont(scaled(self.font(), 2.2, QFont.Weight.Light))
        self.time.setAccessibleName("Recorded time")
        self.meter, self.light, self.hears = LevelMeter(), SpeechLight(), Quiet("hears speech")
        self.device = QToolButton(autoRaise=True)
        self.device.setFont(small(self.font()))
        self.device.setToolTip("Which microphone is heard")
        self.device.clicked.connect(lambda: pop_up(menu, self.device))
        self.pause = self._button("Pause", "pause", "Leave out what is said from now on", self._pause_or_go_on)
        self.stop = self._button("Stop", "stop", "End the recording (Ctrl+R)", recording.stop)
        self.retry = self._button("Try again", "retry", "Record again (Ctrl+R)", self.again.emit)
        self.open_settings = self._button(
            "System settings…", "microphone", "Where the system keeps who may hear", permission.open_settings
        )
        self.close_ = self._button("Close", "cancelled", "Take this away", recording.dismiss)
        self.trouble_icon, self.trouble = Picture(), Label()
        self.trouble.setWordWrap(True)
        self._compose()
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAccessibleName("Recording")
        recording.changed.connect(self.refresh)
        recording.level.connect(self._show_level)
        self.refresh()

    def refresh(self) -> None:
        """Show the recording as it is now."""
        recording = self._recording
        self.setVisible(recording.state != "ready")
        is_on = recording.state in ("recording", "paused")
        self.state.setFont(scaled(self.font(), 1.0, QFont.Weight.Medium))
        self.state.setText(_STATES.get(recording.state, ""))
        self.time.setText(clock(recording.elapsed))
        self.facts.setText(" · ".join(self._facts()))
        self.time.setVisible(recording.state != "failed" or recording.elapsed > 0)
        self.device.setText(f"{recording.device or 'Choose a microphone'} ▾")
        self.device.setAccessibleName(f"Microphone: {recording.device}")
        self.device.setVisible(is_on or recording.state == "failed")
        for part in (self.meter, self.light, self.hears):
            part.setVisible(is_on)
        self._show_buttons()
        self._show_trouble(recording.trouble)

    def _facts(self) -> list[str]:
        recording = self._recording
        behind = f"the words are {clock(recording.behind)} behind" if recording.behind else ""
        free = f"room for {room(recording.free_minutes)}" if recording.free_minutes is not None else ""
        return [fact for fact in (behind, free if recording.is_open else "", *recording.losses) if fact]

    def _show_buttons(self) -> None:
        state = self._recording.state
        is_paused = state == "paused"
        self.pause.setVisible(state in ("recording", "paused"))
        self.pause.setText("Go on" if is_paused else "Pause")
        set_icon(self.pause, "go-on" if is_paused else "pause")
        self.stop.setVisible(state in ("starting", "recording", "paused"))
        self.retry.setVisible(state == "failed")
        self.close_.setVisible(state == "failed")

    def _show_trouble(self, trouble: Message | None) -> None:
        text = f"{trouble.what} {trouble.todo}" if trouble else ""
        for part in (self.trouble_icon, self.trouble):
            part.setVisible(bool(text))
        self.open_settings.setVisible(bool(text) and self._permission.has_settings)
        if text == self._said:
            return
        self._said = text
        self.trouble.setText(text)
        self.trouble.setToolTip(tip(trouble.detail) if trouble else "")
        self.trouble_icon.show_icon("warning", self.fontMetrics().height())
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _show_level(self, level: Level) -> None:
        self.meter.show_level(level.rms, level.peak)
        self.light.set_on(level.hears_speech)
        self.hears.setText("hears speech" if level.hears_speech else "no speech")

    def _pause_or_go_on(self) -> None:
        if self._recording.state == "paused":
            self._recording.resume()
        else:
            self._recording.pause()

    def _button(self, text: str, icon: str, about: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        set_icon(button, icon)
        button.setToolTip(about)
        button.setAutoDefault(True)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda _checked: act())
        return button

    def _compose(self) -> None:
        step = unit(self)
        words = QVBoxLayout()
        words.setSpacing(step // 2)
        words.addWidget(self.state)
        words.addLayout(_row(step, self.meter, self.light, self.hears))
        top = _row(2 * step, self.time)
        top.addLayout(words, 1)
        for button in (self.pause, self.stop, self.retry, self.close_):
            top.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * step, step, 2 * step, step)
        layout.setSpacing(step // 2)
        layout.addLayout(top)
        facts = _row(step, self.device, self.facts)
        facts.addStretch(1)
        layout.addLayout(facts)
        trouble = _row(step, self.trouble_icon)
        trouble.addWidget(self.trouble, 1)
        trouble.addWidget(self.open_settings)
        layout.addLayout(trouble)


def _row(spacing: int, *widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(spacing)
    for widget in widgets:
        row.addWidget(widget)
    return row
