"""status.json: how far a run came, and how it ended."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Literal

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir

State = Literal["running", "ok", "failed", "partial"]


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


@dataclass
class RunStatus:
    """`cases` holds the cases that were begun, by id."""

    status: State = "running"
    reason: str | None = None
    pid: int = field(default_factory=os.getpid)
    cases: dict[str, CaseStatus] = field(default_factory=dict)


def write_status(run: RunDir, status: RunStatus) -> None:
    run.write_json(run.status, asdict(status))


def read_status(run: RunDir) -> RunStatus:
    content = run.read_json(run.status)
    try:
        cases = {case: CaseStatus(**fields) for case, fields in content.pop("cases").items()}
        return RunStatus(**content, cases=cases)
    except (TypeError, KeyError, AttributeError) as error:
        raise CorruptRun(f"{run.url(run.status)}: not a status file: {error}") from None
