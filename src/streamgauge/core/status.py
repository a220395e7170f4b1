"""status.json: how far a run came, and how it ended. Whoever asks for a run's state asks here."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import psutil

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir

NOT_ANALYSED: Literal["not analysed"] = "not analysed"
State = Literal["running", "ok", "failed", "partial", "not analysed"]

# Linux counts a process's start from boot, and the time of boot moves when the clock is set.
_STARTED_TOLERANCE_S = 2.0
_CUT_OFF = "its process ended before it was done"


@dataclass
class CaseStatus:
    status: State
    reason: str | None = None
    holds: bool | None = None
    """Of a case that is to hold something: does it? None: nothing was asked, or it is not known."""
    is_skipped: bool = False
    """It was not run, because an earlier case had said all there was to say."""
    is_cut_off: bool = False
    """The run ended in the middle of it: a run that is resumed does it again."""
    made_topics: list[str] = field(default_factory=list)
    """While it runs: what it made and will delete, for whoever comes after if it cannot."""

    @property
    def is_finished(self) -> bool:
        return self.status != "running" and not self.is_cut_off


def _own_start_s() -> float:
    return psutil.Process().create_time()


@dataclass
class RunStatus:
    """`cases` holds the cases that were begun, by id."""

    status: State = "running"
    reason: str | None = None
    pid: int = field(default_factory=os.getpid)
    cases: dict[str, CaseStatus] = field(default_factory=dict)
    is_analysed: bool = True
    """False from the first case until the analysis has written its last table."""
    host: str = field(default_factory=socket.gethostname)
    pid_started_s: float = field(default_factory=_own_start_s)
    """Process ids are used again; with the start they are not."""
    stages_s: dict[str, float] = field(default_factory=dict)
    """How long each stage took, by its name in `core.stages`."""


def write_status(run: RunDir, status: RunStatus) -> None:
    run.write_json(run.status, asdict(status))


def read_status(run: RunDir) -> RunStatus:
    """The state that the run is in now, whatever its process last wrote down."""
    written = _written(run)
    is_measured = written.status in ("ok", "failed")
    if written.status == "running":
        return written if _is_alive(written) else _cut_off(run, written)
    if not is_measured or written.is_analysed:
        return written
    if _is_alive(written):
        return replace(written, status="running", reason="being analysed")
    go_on = f"measured, but not analysed; go on with: streamgauge analyze {run.location}"
    return replace(written, status=NOT_ANALYSED, reason=go_on)


def in_use(run: RunDir) -> RunStatus | None:
    """As it was written, if a process is at work on it: measures it, or analyses what there is."""
    written = _written(run)
    is_busy = written.status == "running" or not written.is_analysed
    return written if is_busy and _is_alive(written) else None


def note_analysis(run: RunDir, *, is_done: bool) -> None:
    """Said by the analysis, before its first table and after its last. The run is then that process's, which
    may be another than the one that measured it."""
    if run.has(run.status):
        own, noted = RunStatus(), replace(_written(run), is_analysed=is_done)
        noted.pid, noted.host, noted.pid_started_s = own.pid, own.host, own.pid_started_s
        write_status(run, noted)


def note_stages(run: RunDir, seconds: Mapping[str, float]) -> None:
    """How long each stage took so far."""
    written = _written(run)
    write_status(run, replace(written, stages_s=dict(seconds)))


def _written(run: RunDir) -> RunStatus:
    content = run.read_json(run.status)
    try:
        cases = {case: CaseStatus(**fields) for case, fields in content.pop("cases").items()}
        return RunStatus(**_of_old(content), cases=cases)
    except (TypeError, KeyError, AttributeError) as error:
        raise CorruptRun(f"{run.url(run.status)}: not a status file: {error}") from None


def _of_old(content: dict[str, Any]) -> dict[str, Any]:
    """Runs of earlier versions do not say where and when their process began."""
    return {"host": "", "pid_started_s": 0.0, **content}


def _cut_off(run: RunDir, written: RunStatus) -> RunStatus:
    cases = {
        case: replace(status, status="partial", reason=_CUT_OFF, is_cut_off=True)
        if status.status == "running"
        else status
        for case, status in written.cases.items()
    }
    kept = f"; see what was recorded with: streamgauge analyze {run.location}" if cases else ""
    return replace(written, status="partial", reason=f"{_CUT_OFF}{kept}", cases=cases)


def _is_alive(written: RunStatus) -> bool:
    """Whether its process still runs; of one on another host nothing can be known, so it is believed."""
    if written.host not in ("", socket.gethostname()):
        return written.status == "running"
    try:
        process = psutil.Process(written.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if not written.pid_started_s:
            return any("streamgauge" in argument for argument in process.cmdline())
        return abs(process.create_time() - written.pid_started_s) < _STARTED_TOLERANCE_S
    except psutil.Error:
        return False
