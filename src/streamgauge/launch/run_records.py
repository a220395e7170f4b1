"""What a run keeps about itself while it goes on: status.json and environment.json, always up to date."""

from __future__ import annotations

import contextlib
from typing import Any

from streamgauge.core.environment import describe_machine
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.spec.target import Target


class RunRecords:
    def __init__(self, run: RunDir, master: str) -> None:
        self._run = run
        self.status = RunStatus()
        self._environment: dict[str, Any] = {**describe_machine(), "master": master}
        self._environment |= {"systems": {}, "clients": {}}
        self._write()

    def note_system(self, target: Target, system: TargetSystem, facts: dict[str, Any]) -> None:
        about = {"description": system.description, **facts, **system.settings}
        self._environment["systems"][target.name] = about
        self._write()

    def begin_case(self, case: Case) -> None:
        self.status.cases[case.id] = CaseStatus("running")
        write_status(self._run, self.status)

    def end_case(self, case: Case, status: CaseStatus, client_settings: dict[str, Any]) -> None:
        self.status.cases[case.id] = status
        self._environment["clients"].setdefault(case.target.name, {}).update(client_settings)
        self._write()

    def finish(self) -> None:
        """Every case had its turn."""
        broken = [case for case, status in self.status.cases.items() if status.status != "ok"]
        self.status.status = "failed" if broken else "ok"
        self.status.reason = f"case {', '.join(broken)} failed" if broken else None
        self._write()

    def end_early(self, reason: str) -> None:
        if self.status.status != "running":
            return  # measured to the end; it was the analysis that failed
        self.status.status, self.status.reason = "partial", reason
        for case in self.status.cases.values():
            if case.status == "running":
                case.status, case.reason = "partial", reason
        # The reason is on its way to the user; that it cannot be noted down (a full disk) is not worth more.
        with contextlib.suppress(BadInput):
            self._write()

    def _write(self) -> None:
        write_status(self._run, self.status)
        self._run.write_json(self._run.environment, self._environment)
