"""The runs in the folder, as `streamgauge runs` lists them; what has not changed is not read again."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.report.listed_runs import Listed, listed

_MOST_KEPT = 5000
_IN_PROGRESS = "running"
Marks = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """One run of the list."""

    listed: Listed
    size: str

    @property
    def is_running(self) -> bool:
        return self.listed.state == _IN_PROGRESS

    def is_asked_for(self, text: str, tag: str) -> bool:
        """Whether each word of the text is in something that the list shows, and it has the tag, if any."""
        found = self.listed
        shown = " ".join((found.run.id, found.state, found.target, *found.tags, *found.verdicts, found.why))
        return all(word in shown.lower() for word in text.lower().split()) and (not tag or tag in found.tags)


class RunList:
    """Looked at from several threads, one at a time."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Marks, Row]] = {}

    def rows(self) -> list[Row]:
        """Newest first."""
        with self._lock:
            if len(self._kept) > _MOST_KEPT:
                self._kept.clear()
            return [self._row(run) for run in reversed(runs_in(self.folder))]

    def row(self, name: str) -> Row | None:
        run = self.find(name)
        if run is None:
            return None
        with self._lock:
            return self._row(run)

    def find(self, name: str) -> RunDir | None:
        """The run of that name; a name is one piece of a path (see `requests`), so it leads nowhere else."""
        if not name or name.startswith(".") or "/" in name:
            return None
        run = RunDir.below(self.folder, name)
        return run if run.has(run.plan) else None

    def _row(self, run: RunDir) -> Row:
        marks = _marks(run)
        if (kept := self._kept.get(run.id)) is not None and marks and kept[0] == marks:
            return kept[1]
        found = listed(run)
        row = Row(found, found.size)
        if not row.is_running:  # whether its process lives is in no file
            self._kept[run.id] = (marks, row)
        return row


def _marks(run: RunDir) -> Marks:
    """When the files were written that a row is made from; nothing of a folder that is not on this disk."""
    if not run.is_local:
        return ()
    marks = []
    for name in (run.plan, run.status, run.tags, run.results_document):
        try:
            marks.append(run.local(name).stat().st_mtime_ns)
        except (OSError, BadInput):
            marks.append(0)
    return tuple(marks)
