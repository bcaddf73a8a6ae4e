"""Whether the system lets this program hear: macOS asks the user once, elsewhere nobody is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QMicrophonePermission, QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices

_SETTINGS = {  # where each system keeps who may hear
    "darwin": "x-apple.systempreferences:com.apple.preference.security?Privacy_Microphone",
    "win32": "ms-settings:privacy-microphone",
}


class Permission(Protocol):
    """Who says whether the microphone may be heard."""

    def ask(self, then: Callable[[bool], None]) -> None:
        """Call `then` with the answer, once."""
        ...


class MicrophonePermission(QObject):
    """Asks the system; `open_settings` is the way to change one's mind, where there is one."""

    def ask(self, then: Callable[[bool], None]) -> None:
        """Call `then` with the answer: at once when it is known, else when the user has given it."""
        application = QCoreApplication.instance()
        assert application is not None
        status = application.checkPermission(QMicrophonePermission())
        if status == Qt.PermissionStatus.Undetermined:
            application.requestPermission(
                QMicrophonePermission(), self, lambda permission: then(_is_granted(permission.status()))
            )
        else:
            then(_is_granted(status))

    @property
    def has_settings(self) -> bool:
        """Whether there is a page of the system's settings to open."""
        return sys.platform in _SETTINGS

    def open_settings(self) -> None:
        """Open that page."""
        QDesktopServices.openUrl(QUrl(_SETTINGS[sys.platform]))


def _is_granted(status: Qt.PermissionStatus) -> bool:
    return status == Qt.PermissionStatus.Granted
