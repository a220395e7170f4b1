"""faults.json: every fault of a run: when it began and ended, whom it hit, what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from streamgauge.core.case_blocks import note_case, read_by_case
from streamgauge.core.errors import CorruptRun
from streamgauge.core.fault_figures import FaultEffects
from streamgauge.core.run_dir import RunDir
from streamgauge.spec.model import SpecModel


class FaultRecord(SpecModel):
    """One fault of one case; times are on the launcher's clock, which is the reference of all others."""

    kind: str
    planned_at_s: float
    planned_for_s: float | None = None
    target: str | None = None
    """Whom it hit; None: it was never begun."""
    began_ns: int | None = None
    counts_from_ns: int | None = None
    """Since when it is said how long it took to detect and to recover; None: since it began. An unclean
    election is prepared first."""
    done_ns: int | None = None
    """When it was done: an unclean election takes its time."""
    ended_ns: int | None = None
    """When it was taken back, and all is up again; None: it never was, as of agents that are killed."""
    problem: str | None = None
    """Why it could not be begun, or taken back."""
    effects: FaultEffects | None = None
    """What it did, beyond what messages tell."""

    @property
    def charged_from_ns(self) -> int | None:
        """Since when messages may be charged to it; None: it did not begin, or could not be done."""
        is_refused = self.done_ns is None and self.problem is not None
        return None if is_refused else self.began_ns

    @property
    def went_as_planned(self) -> bool:
        """It was done, and nothing went wrong with it."""
        return self.done_ns is not None and self.problem is None


_FAULTS: TypeAdapter[dict[str, tuple[FaultRecord, ...]]] = TypeAdapter(dict[str, tuple[FaultRecord, ...]])


def read_faults(run: RunDir) -> dict[str, tuple[FaultRecord, ...]]:
    """By case; empty when none was planned."""
    try:
        return _FAULTS.validate_python(read_by_case(run, run.faults))
    except ValidationError as error:
        raise CorruptRun(
            f"{run.url(run.faults)}: not a record of faults: {error.errors()[0]['msg']}"
        ) from None


def note_faults(run: RunDir, case: str, records: Sequence[FaultRecord]) -> None:
    note_case(run, run.faults, case, [each.model_dump(mode="json") for each in records])
