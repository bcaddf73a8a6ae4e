"""One window a data folder: a second start hands its files to the first and ends.

A lock file says who is first, a local socket carries the files. Both are this user's alone.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec
from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

ANSWER_MS = 2_000  # how long a first window may take to answer
MAX_MESSAGE = 16 * 1024 * 1024  # bytes; a command line is far shorter
_RECEIVED = b"received\n"


class Outcome(Enum):
    """What became of a start."""

    FIRST = "this is the only window"
    HANDED_OVER = "another window has the files"
    NO_ANSWER = "another window is there, but does not answer"


@dataclass(frozen=True, slots=True)
class Files:
    """What a second start sends, as one line of JSON; paths as bytes, absolute."""

    files: tuple[bytes, ...]


class SingleInstance(QObject):
    """Ask `begin` first. Keep it as long as the window lives."""

    files = Signal(object)  # tuple[bytes, ...] of a later start; none: just come to the front

    def __init__(self, data: Path, answer_ms: int = ANSWER_MS) -> None:
        super().__init__()
        self._name = server_name(data)
        self._answer_ms = answer_ms
        self._lock = QLockFile(str(data / "window.lock"))
        self._lock.setStaleLockTime(0)  # it is stale when its process is gone, never by age
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._greet)

    def begin(self, files: tuple[bytes, ...]) -> Outcome:
        """Become the first, or hand `files` to the one that is; takes `answer_ms` or a little more at most."""
        deadline = time.monotonic() + self._answer_ms / 1000
        while True:
            if self._lock.tryLock(0) or self._lock.error() != QLockFile.LockError.LockFailedError:
                # Without the right to lock there is no right to write either: the library says so.
                QLocalServer.removeServer(self._name)  # what a killed window left; the lock says nobody uses it
                self._server.listen(self._name)
                return Outcome.FIRST
            left = int((deadline - time.monotonic()) * 1000)
            if _hand_over(self._name, files, max(left, 1)):
                return Outcome.HANDED_OVER
            if time.monotonic() > deadline:
                return Outcome.NO_ANSWER
            time.sleep(0.05)  # it may be just starting, or just ending

    def end(self) -> None:
        """Let another window be the first."""
        self._server.close()
        self._lock.unlock()

    def _greet(self) -> None:
        while connection := self._server.nextPendingConnection():
            connection.readyRead.connect(lambda connection=connection: self._read(connection))
            connection.disconnected.connect(connection.deleteLater)
            self._read(connection)

    def _read(self, connection: QLocalSocket) -> None:
        if not connection.canReadLine():
            if connection.bytesAvailable() > MAX_MESSAGE:
                connection.abort()
            return
        try:
            message = msgspec.json.decode(bytes(connection.readLine().data()), type=Files)
        except msgspec.MsgspecError:
            connection.abort()
            return
        connection.write(_RECEIVED)
        connection.flush()  # the other one waits
        connection.disconnectFromServer()
        self.files.emit(message.files)


def server_name(data: Path) -> str:
    """The socket's name, the same for all starts of a user with this data folder."""
    user = getattr(os, "getuid", getpass.getuser)()
    key = hashlib.sha256(os.fsencode(f"{user}:{data.resolve()}")).hexdigest()[:16]
    private = os.environ.get("XDG_RUNTIME_DIR", "")  # where it is set, nobody else can be there first
    return str(Path(private, f"sottovoce-{key}")) if Path(private).is_dir() and private else f"sottovoce-{key}"


def _hand_over(name: str, files: tuple[bytes, ...], timeout_ms: int) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(timeout_ms):
        return False
    socket.write(msgspec.json.encode(Files(files)) + b"\n")
    while not socket.canReadLine() and socket.waitForReadyRead(timeout_ms):
        pass
    return socket.canReadLine() and bytes(socket.readLine().data()) == _RECEIVED
