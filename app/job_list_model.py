"""All jobs and transcripts as rows, newest first, with a heading for every day."""

# ruff: noqa: D102  (overrides are named and explained by Qt)

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.job_words import RowWords, row_words, spoken
from app.jobs import Jobs
from app.look import tip
from app.wording import day
from engine.files import shown
from engine.library import Entry

Index = QModelIndex | QPersistentModelIndex


class JobListModel(QAbstractListModel):
    """Rows are headings (str) or the ids of entries (int)."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._entries: dict[int, Entry] = {}
        self._rows: list[str | int] = []
        self._only: set[int] | None = None
        self.reload()
        jobs.added.connect(self._add)
        jobs.changed.connect(self._change)
        jobs.removed.connect(self._remove)
        jobs.progress.connect(self._progress)

    def reload(self) -> None:
        """Read everything anew."""
        self.beginResetModel()
        self._entries = {entry.id: entry for entry in self._jobs.entries()}
        self._rows = self._arranged()
        self.endResetModel()

    def show_only(self, ids: set[int] | None) -> None:
        """Show only these entries; None shows all."""
        if ids != self._only:
            self.beginResetModel()
            self._only = ids
            self._rows = self._arranged()
            self.endResetModel()

    def entry(self, index: Index) -> Entry | None:
        """The entry of a row; None for a heading or no row."""
        row = self._rows[index.row()] if index.isValid() else ""
        return self._entries.get(row) if isinstance(row, int) else None

    def words(self, entry: Entry) -> RowWords:
        """What the row of an entry says."""
        return row_words(entry, self._jobs.live(entry.id), self._jobs.queue.why_waits(entry.id))

    def index_of(self, entry_id: int) -> QModelIndex:
        """Where an entry stands; an invalid index when it is not shown."""
        return self.index(self._rows.index(entry_id)) if entry_id in self._rows else QModelIndex()

    def first(self) -> QModelIndex:
        """The newest entry."""
        return self.index(1) if len(self._rows) > 1 else QModelIndex()

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries at all, shown or not."""
        return not self._entries

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.entry(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401  (Qt's variant)
        entry = self.entry(index)
        if entry is None:
            texts = {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}
            return self._rows[index.row()] if index.isValid() and role in texts else None
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole}:
            return entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(entry, self.words(entry))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip("\n".join(filter(None, (entry.title, shown(entry.source), self.words(entry).state))))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: ANN401, N802
        entry = self.entry(index)
        if entry is None or role != Qt.ItemDataRole.EditRole or not str(value).strip():
            return False
        self._jobs.rename(entry.id, str(value))
        return True

    def _arranged(self) -> list[str | int]:
        rows: list[str | int] = []
        for entry in sorted(self._entries.values(), key=_newest_first):
            if self._only is None or entry.id in self._only:
                heading = day(entry.created)
                if not rows or heading != self._heading_above(rows):
                    rows.append(heading)
                rows.append(entry.id)
        return rows

    def _heading_above(self, rows: list[str | int]) -> str | None:
        last = rows[-1] if rows else None
        return day(self._entries[last].created) if isinstance(last, int) else None

    def _add(self, entry_id: int) -> None:
        entry = self._jobs.entry(entry_id)
        self._entries[entry_id] = entry
        if (self._only is not None and entry_id not in self._only) or entry_id in self._rows:
            return
        heading, at = day(entry.created), self._place_for(entry)
        new: list[str | int] = [entry_id]
        if at < len(self._rows) and self._rows[at] == heading:
            at += 1
        elif self._heading_above(self._rows[:at]) != heading:
            new = [heading, entry_id]
        self.beginInsertRows(QModelIndex(), at, at + len(new) - 1)
        self._rows[at:at] = new
        self.endInsertRows()

    def _place_for(self, entry: Entry) -> int:
        """The row of the next older entry, or of the heading above it."""
        for at, row in enumerate(self._rows):
            if isinstance(row, int) and _newest_first(self._entries[row]) > _newest_first(entry):
                return at - 1 if isinstance(self._rows[at - 1], str) else at
        return len(self._rows)

    def _change(self, entry_id: int) -> None:
        if entry_id in self._entries:
            self._entries[entry_id] = self._jobs.entry(entry_id)
            self._progress(entry_id)

    def _progress(self, entry_id: int) -> None:
        index = self.index_of(entry_id)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def _remove(self, entry_id: int) -> None:
        self._entries.pop(entry_id, None)
        if entry_id not in self._rows:
            return
        first = last = self._rows.index(entry_id)
        alone = last + 1 == len(self._rows) or isinstance(self._rows[last + 1], str)
        if alone and isinstance(self._rows[first - 1], str):
            first -= 1
        self.beginRemoveRows(QModelIndex(), first, last)
        del self._rows[first : last + 1]
        self.endRemoveRows()


def _newest_first(entry: Entry) -> tuple[int, int]:
    return -entry.created, -entry.id
