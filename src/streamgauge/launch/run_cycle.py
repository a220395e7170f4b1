"""The life of a run: plan it, bring systems up, run every case, bring them down, keep everything."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console

from streamgauge.core.environment import describe_machine
from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.drivers.contract import Driver
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.launch.case_run import run_one_case
from streamgauge.launch.spark_session import spark_session
from streamgauge.launch.target_system import LaunchedSystem, TargetSystem, launched
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, make_plan, write_plan
from streamgauge.plan.slots import check_slots, default_master, local_slots
from streamgauge.spec.loading import dump_yaml
from streamgauge.spec.secrets import environment_of, fill_in, strike_out
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload

REACH_DEADLINE_S = 15.0


class RunCycle:
    """One run. `measure` leaves a run folder with events, whatever happens after it was made."""

    def __init__(
        self,
        workload: Workload,
        *,
        out: str,
        master: str | None,
        console: Console,
        show_progress: bool,
        debug: bool,
    ) -> None:
        self._workload, self._console = workload, console
        self._show_progress, self._debug = show_progress, debug
        self._check_before(workload)
        plan = make_plan(workload, "check")
        self._master = master or default_master(plan.slots_needed)
        slots = local_slots(self._master)
        if slots is not None:
            check_slots(plan.slots_needed, slots, self._master)
        self.run = RunDir.create(out, workload.name)
        self.plan: Plan = make_plan(workload, self.run.id)
        self.status = RunStatus()
        self._environment: dict[str, Any] = {**describe_machine(), "master": self._master}
        self._environment |= {"systems": {}, "clients": {}}
        self.run.write_text(self.run.workload, dump_yaml(workload))
        write_plan(self.plan, self.run)
        self._write_records()

    def measure(self, afterwards: Callable[[SparkSession], None]) -> None:
        """Run every case, then `afterwards` (the analysis) on the same Spark session."""
        try:
            self._run_targets(afterwards)
        except KeyboardInterrupt:
            self._end_early("interrupted")
            raise
        except StreamgaugeError as error:
            self._end_early(str(error))
            raise
        except Exception as error:
            self._end_early(f"{type(error).__name__}: {error}")
            raise

    def _check_before(self, workload: Workload) -> None:
        """All that can be known to be wrong before anything starts."""
        for target in workload.targets:
            driver_class(target)
            environment_of(target)
            system = target.system
            replicas = workload.load.topics.replicas
            if system is not None and replicas > system.brokers:
                raise BadInput(
                    f"load.topics.replicas: {replicas} replicas need as many brokers; "
                    f"target {target.name} has {system.brokers}"
                )
        lines_of = getattr(workload.load.message.size, "lines_of", None)
        if lines_of is not None and not Path(lines_of).is_file():
            raise BadInput(f"load.message.size.lines_of: {lines_of}: no such file")

    def _run_targets(self, afterwards: Callable[[SparkSession], None]) -> None:
        by_target = [(t, list(c)) for t, c in itertools.groupby(self.plan.cases, lambda case: case.target)]
        with ExitStack() as stack:
            session: SparkSession | None = None
            for target, cases in by_target:
                with launched(target, self._log_dir()) as system:
                    # The brokers come up while Spark does.
                    session = session or stack.enter_context(self._session())
                    self._run_cases(session, target, system, cases)
            assert session is not None
            self._finish()
            afterwards(session)

    def _session(self) -> Any:
        log = self._log_dir() / "spark.log" if self.run.is_local else None
        return spark_session(self._master, self.plan.slots_needed, log, "WARN" if self._debug else "ERROR")

    def _run_cases(
        self, session: SparkSession, target: Target, launched_system: LaunchedSystem, cases: list[Case]
    ) -> None:
        environment = environment_of(target)
        try:
            system = launched_system.wait()
            driver = open_driver(fill_in(target, environment), system.endpoints)
            try:
                self._note_system(target, system, driver.check_reachable(REACH_DEADLINE_S))
                for case in cases:
                    self._run_case(session, case, driver, system, environment)
            finally:
                driver.close()
        except StreamgaugeError as error:
            raise type(error)(strike_out(str(error), environment)) from error

    def _run_case(
        self,
        session: SparkSession,
        case: Case,
        driver: Driver,
        system: TargetSystem,
        environment: dict[str, str],
    ) -> None:
        self.status.cases[case.id] = CaseStatus("running")
        write_status(self.run, self.status)
        outcome = run_one_case(
            session,
            self.run,
            case,
            driver,
            system,
            environment,
            debug=self._debug,
            console=self._console,
            total_cases=len(self.plan.cases),
            show_progress=self._show_progress,
        )
        self.status.cases[case.id] = outcome.status
        self._environment["clients"].setdefault(case.target.name, {}).update(outcome.client_settings)
        self._write_records()
        if outcome.fatal is not None:
            raise outcome.fatal

    def _note_system(self, target: Target, system: TargetSystem, facts: dict[str, Any]) -> None:
        self._environment["systems"][target.name] = {
            "description": system.description,
            **facts,
            **system.settings,
        }
        self._write_records()

    def _finish(self) -> None:
        broken = [case for case, status in self.status.cases.items() if status.status != "ok"]
        self.status.status = "failed" if broken else "ok"
        self.status.reason = f"case {', '.join(broken)} failed" if broken else None
        self._write_records()

    def _end_early(self, reason: str) -> None:
        if self.status.status != "running":
            return  # measured to the end; it was the analysis that failed
        self.status.status, self.status.reason = "partial", reason
        for case in self.status.cases.values():
            if case.status == "running":
                case.status, case.reason = "partial", reason
        # The reason is on its way to the user; that it cannot be noted down (a full disk) is not worth more.
        with contextlib.suppress(BadInput):
            self._write_records()

    def _write_records(self) -> None:
        write_status(self.run, self.status)
        self.run.write_json(self.run.environment, self._environment)

    def _log_dir(self) -> Path:
        folder = self.run.local("logs") if self.run.is_local else Path.cwd() / f"{self.run.id}-logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
