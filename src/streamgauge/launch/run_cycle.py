"""The life of a run: plan it, bring systems up, run every case, bring them down, keep everything."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import RunStatus
from streamgauge.drivers.registry import driver_class
from streamgauge.launch.comparison_check import check_comparison
from streamgauge.launch.progress import RunProgress
from streamgauge.launch.run_records import RunRecords
from streamgauge.launch.spark_session import spark_session
from streamgauge.launch.target_run import TargetRun, target_run
from streamgauge.launch.target_system import launched
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, make_plan, write_plan
from streamgauge.plan.slots import check_slots, default_master, local_slots
from streamgauge.spec.loading import dump_yaml
from streamgauge.spec.secrets import environment_of
from streamgauge.spec.workload import Workload


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
        self._workload, self._debug = workload, debug
        self._check_before(workload)
        plan = make_plan(workload, "check")
        self._master = master or default_master(plan.slots_needed)
        slots = local_slots(self._master)
        if slots is not None:
            check_slots(plan.slots_needed, slots, self._master)
        self.run = RunDir.create(out, workload.name)
        self.plan: Plan = make_plan(workload, self.run.id)
        self.run.write_text(self.run.workload, dump_yaml(workload))
        write_plan(self.plan, self.run)
        self._records = RunRecords(self.run, self._master)
        self._progress = RunProgress(self.run, len(self.plan.cases), console, is_shown=show_progress)
        self._errors: list[StreamgaugeError] = []

    @property
    def status(self) -> RunStatus:
        return self._records.status

    def measure(self, afterwards: Callable[[SparkSession], None]) -> None:
        """Run every case, then `afterwards` (the analysis) on the same Spark session."""
        try:
            self._run_targets(afterwards)
        except KeyboardInterrupt:
            self._records.end_early("interrupted")
            raise
        except StreamgaugeError as error:
            self._records.end_early(str(error))
            raise
        except Exception as error:
            self._records.end_early(f"{type(error).__name__}: {error}")
            raise

    def _check_before(self, workload: Workload) -> None:
        """All that can be known to be wrong before anything starts."""
        check_comparison(workload)
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
                    with target_run(
                        session,
                        self.run,
                        target,
                        system,
                        cases,
                        self._records,
                        progress=self._progress,
                        debug=self._debug,
                    ) as running:
                        self._run_cases(running, cases)
            assert session is not None
            if len(self._errors) == len(self.plan.cases):
                raise self._errors[0]  # there is nothing to tell but why
            self._records.finish()
            afterwards(session)

    def _run_cases(self, running: TargetRun, cases: list[Case]) -> None:
        for number, case in enumerate(cases, 1):
            outcome = running.run_case(case)
            if outcome.error is not None:
                self._errors.append(outcome.error)
                if number < len(cases):
                    running.check_still_there()

    def _session(self) -> Any:
        log = self._log_dir() / "spark.log" if self.run.is_local else None
        return spark_session(self._master, self.plan.slots_needed, log, "WARN" if self._debug else "ERROR")

    def _log_dir(self) -> Path:
        folder = self.run.local("logs") if self.run.is_local else Path.cwd() / f"{self.run.id}-logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder
