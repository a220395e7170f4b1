"""status.json: how far a run came, and how it ended. Whoever asks for a run's state asks here."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import psutil

from streamgauge.core.case_blocks import CASES_A_BLOCK, read_blocks, write_block
from streamgauge.core.errors import CorruptRun
from streamgauge.core.process_identity import own_start_s, still_runs
from streamgauge.core.run_dir import RunDir

NOT_ANALYSED: Literal["not analysed"] = "not analysed"
State = Literal["running", "ok", "failed", "partial", "not analysed"]

KEPT_AFTER_S, KEPT_ELSEWHERE_AFTER_S = 2.0, 10.0
"""An agent writes its journal twice as often; the rest is for a machine that is busy."""
_KEPT_AFTER_S_OF_OLD = 5.0
_BLOCKS = "status"
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
    is_broken_off: bool = False
    """One of its agents died, and the others were stopped where they were."""
    made_topics: list[str] = field(default_factory=list)
    """While it runs: what it made and will delete, for whoever comes after if it cannot."""

    @property
    def is_finished(self) -> bool:
        return self.status != "running" and not self.is_cut_off

    @property
    def is_whole(self) -> bool:
        """All agents came to an end of their own: what nobody had seen by then was not there."""
        return self.status in ("ok", "partial") and not (self.is_cut_off or self.is_broken_off)


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
    pid_started_s: float = field(default_factory=own_start_s)
    """Process ids are used again; with the start they are not."""
    mark: str = ""
    """Of the command that measures it, by which its guardian is known."""
    stages_s: dict[str, float] = field(default_factory=dict)
    """How long each stage took, by its name in `core.stages`."""
    is_reported: bool = True
    """False from the first case until the last part of the report is written."""
    can_resume: bool = True
    """Whether it can go on after its last finished case; else it has to be done again."""
    kept_after_s: float | None = KEPT_AFTER_S
    """What an agent recorded so long before it was killed, or earlier, is there; None: one was killed that
    could not write its journal, and what it had in memory alone is gone."""
    blocks: int = 0
    """So many times a hundred finished cases, the first ones, are in files of their own."""


def kept_after_s(run: RunDir) -> float:
    """Where small files take their time, they are written less often."""
    return KEPT_AFTER_S if run.is_quick else KEPT_ELSEWHERE_AFTER_S


def write_status(run: RunDir, status: RunStatus) -> None:
    """Each case is written a bounded number of times, however many there are."""
    cases = list(status.cases)
    while len(cases) >= (status.blocks + 2) * CASES_A_BLOCK:
        begin = status.blocks * CASES_A_BLOCK
        block = {case: vars(status.cases[case]) for case in cases[begin : begin + CASES_A_BLOCK]}
        if not all(status.cases[case].is_finished for case in block):
            break
        write_block(run, _BLOCKS, status.blocks, block)
        status.blocks += 1
    last = {case: status.cases[case] for case in cases[status.blocks * CASES_A_BLOCK :]}
    run.write_json(run.status, asdict(replace(status, cases=last)))


def read_status(run: RunDir) -> RunStatus:
    """The state that the run is in now, whatever its process last wrote down."""
    written = _written(run)
    is_measured = written.status in ("ok", "failed")
    if written.status == "running":
        return written if _is_alive(written) else _cut_off(written)
    if not is_measured or written.is_analysed:
        return written
    if _is_alive(written):
        return replace(written, status="running", reason="being analysed")
    go_on = f"measured, but not analysed; go on with: streamgauge analyze {run.location}"
    return replace(written, status=NOT_ANALYSED, reason=go_on)


def why_and_what_to_do(run: RunDir, status: RunStatus) -> str:
    """Of a run in this state: one that ended before its last case did goes on with the command named."""
    said = [status.reason] if status.reason else []
    if status.status == "partial":
        again = f"do it again with: streamgauge run {run.url(run.workload)}"
        resumed = f"go on with: streamgauge run --resume {run.location}"
        said.append(resumed if status.can_resume else again)
        if status.cases and not status.is_analysed:
            said.append(f"see what was recorded with: streamgauge analyze {run.location}")
    return "; ".join(said)


def in_use(run: RunDir) -> RunStatus | None:
    """As it was written, if a process is at work on it: measures it, or analyses what there is."""
    written = _written(run)
    is_busy = written.status == "running" or not written.is_analysed
    return written if is_busy and _is_alive(written) else None


def note_analysis(run: RunDir, *, is_done: bool) -> None:
    """Said by the analysis, before its first table and after its last. The run is then that process's, which
    may be another than the one that measured it."""
    if run.has(run.status):
        written = _written(run)
        if written.status == "running" and not _is_alive(written):
            written = _cut_off(written)  # or it would seem to go on, in this process
        own, noted = RunStatus(), replace(written, is_analysed=is_done)
        noted.pid, noted.host, noted.pid_started_s = own.pid, own.host, own.pid_started_s
        write_status(run, noted)


def why_no_report(run: RunDir) -> str | None:
    """Of a run that ended while its report was written; None: that is there, or on its way."""
    written = _written(run)
    if written.is_reported or not written.is_analysed or _is_alive(written):
        return None
    return f"its report is not written; go on with: streamgauge report {run.location}"


def note_report(run: RunDir) -> None:
    """Said when its last part is written."""
    if run.has(run.status) and not (written := _written(run)).is_reported:
        write_status(run, replace(written, is_reported=True))


def note_not_kept(run: RunDir) -> None:
    """Said by whoever found that an agent was killed while it could not write its journal."""
    if run.has(run.status):
        write_status(run, replace(_written(run), kept_after_s=None))


def note_stages(run: RunDir, seconds: Mapping[str, float]) -> None:
    """How long each stage took so far."""
    written = _written(run)
    write_status(run, replace(written, stages_s=dict(seconds)))


def _written(run: RunDir) -> RunStatus:
    content = run.read_json(run.status)
    try:
        earlier = read_blocks(run, _BLOCKS, blocks) if (blocks := content.get("blocks", 0)) else {}
        # A block that was written just before its process ended is in both.
        told = {**earlier, **content.pop("cases")}
        cases = {case: CaseStatus(**fields) for case, fields in told.items()}
        return RunStatus(**_of_old(content), cases=cases)
    except (TypeError, KeyError, AttributeError) as error:
        raise CorruptRun(f"{run.url(run.status)}: not a status file: {error}") from None


def _of_old(content: dict[str, Any]) -> dict[str, Any]:
    """Runs of earlier versions do not say where and when their process began."""
    return {"host": "", "pid_started_s": 0.0, "kept_after_s": _KEPT_AFTER_S_OF_OLD, **content}


def _cut_off(written: RunStatus) -> RunStatus:
    cases = {
        case: replace(status, status="partial", reason=_CUT_OFF, is_cut_off=True)
        if status.status == "running"
        else status
        for case, status in written.cases.items()
    }
    return replace(written, status="partial", reason=_CUT_OFF, cases=cases)


def _is_alive(written: RunStatus) -> bool:
    """Whether its process still runs; of one on another host nothing can be known, so it is believed."""
    if written.host not in ("", socket.gethostname()):
        return written.status == "running"
    if written.pid_started_s:
        return still_runs(written.pid, written.pid_started_s)
    try:
        return any("streamgauge" in argument for argument in psutil.Process(written.pid).cmdline())
    except psutil.Error:
        return False
