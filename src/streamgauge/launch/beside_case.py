"""What goes on beside each case to keep its events small; launch is given it, and knows nothing of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.slots import local_slots
from streamgauge.spec.load import Load, Recording

_BYTES_A_MESSAGE = 30
"""Of its events on disk, about."""


class RollUps(Protocol):
    def why_not(self, plan: Plan) -> str | None:
        """Why events of such a run cannot be rolled up."""

    def beside(self, run: RunDir, case: Case) -> AbstractContextManager[None]: ...


class BesideCase:
    """Of one run."""

    def __init__(
        self,
        run: RunDir,
        plan: Plan,
        master: str,
        roll_ups: RollUps | None,
        *,
        plans_as_it_goes: bool = False,
    ) -> None:
        """BadInput when it was asked for, and cannot be."""
        self._run, self._roll_ups = run, roll_ups
        self._why_not = _why_not(run, plan, master, roll_ups)
        if plans_as_it_goes:
            self._why_not = "what comes next hangs on all that a case recorded"
        self._usual = Recording()
        for case in plan.cases:
            asked = case.work.recording if isinstance(case.work, Load) else self._usual
            if self._why_not is not None and asked != self._usual:
                raise BadInput(
                    f"load.recording: events cannot be rolled up: {self._why_not}; leave it out, and see "
                    "that there is room for all of them"
                )

    def of(self, case: Case) -> AbstractContextManager[None]:
        if self._why_not is not None or self._roll_ups is None or not isinstance(case.work, Load):
            return nullcontext()
        return self._roll_ups.beside(self._run, case)

    def foretold(self, case: Case, messages: int | None) -> str | None:
        """What a user has to know who has not asked for anything."""
        if self._why_not is None or not isinstance(case.work, Load) or messages is None:
            return None
        expected = messages * _BYTES_A_MESSAGE
        if expected <= self._usual.raw_limit:
            return None
        return f"events will take about {expected / 1024**3:.1f} GiB: not rolled up: {self._why_not}"


def _why_not(run: RunDir, plan: Plan, master: str, roll_ups: RollUps | None) -> str | None:
    if local_slots(master) is None:
        return "agents may be on several hosts, whose clocks are known only in the end"
    if not run.is_local:
        return "the run folder is not on this host's disk"
    return None if roll_ups is None else roll_ups.why_not(plan)
