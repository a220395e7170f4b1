"""All cases of one target, on one system, one driver and one crew of agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from pyspark.sql import SparkSession

from streamgauge.core.errors import StreamgaugeError, Unreachable
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage
from streamgauge.drivers.contract import Driver
from streamgauge.drivers.registry import open_driver
from streamgauge.launch.agents_folder import AgentsFolder
from streamgauge.launch.beside_case import BesideCase
from streamgauge.launch.case_run import CaseOutcome, run_one_case
from streamgauge.launch.conduct import conduct_of
from streamgauge.launch.crew import Crew
from streamgauge.launch.left_topics import TopicsPromise
from streamgauge.launch.live_view import LiveView
from streamgauge.launch.progress import RunProgress
from streamgauge.launch.run_records import RunRecords
from streamgauge.launch.target_system import LaunchedSystem, TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.plan.slots import agents_of, wanted_hosts
from streamgauge.spec.secrets import environment_of, fill_in, shown_settings, strike_out
from streamgauge.spec.target import Target

REACH_DEADLINE_S = 15.0


class TargetRun:
    """Runs case after case; a case that breaks does not end it, a target that is gone does."""

    def __init__(
        self,
        session: SparkSession,
        run: RunDir,
        folder: AgentsFolder,
        agents: Sequence[str],
        hosts: Mapping[str, str],
        environment: dict[str, str],
        records: RunRecords,
        beside: BesideCase,
        *,
        progress: RunProgress,
        live: LiveView | None,
        debug: bool,
    ) -> None:
        self._live, self._beside = live, beside
        self._session, self._run, self._folder = session, run, folder
        self._agents, self._hosts, self._environment = agents, hosts, environment
        self._records, self._progress, self._debug = records, progress, debug
        self._crew = self._hire()
        self._driver: Driver | None = None
        self._system = TargetSystem("not up yet")
        self._promise: TopicsPromise | None = None

    def connect(self, target: Target, launched_system: LaunchedSystem) -> None:
        """Wait for the system, and see whether it answers."""
        self._progress.stages.enter(Stage.STARTING_SYSTEM)
        self._system = launched_system.wait()
        self._driver = open_driver(fill_in(target, self._environment), self._system.endpoints)
        self._promise = TopicsPromise(target, self._environment, self._system)
        facts = self._driver.check_reachable(REACH_DEADLINE_S)
        promises = {"capabilities": asdict(self._driver.capabilities)}
        known = {**facts, **promises, **self._system.settings}
        self._records.note_system(target, self._system, shown_settings(known, self._environment))
        if self._live is not None:
            self._live.open(
                self._session,
                target,
                facts.get("bootstrap"),
                len(self._agents),
                goes_with_us=self._system.goes_with_us,
            )

    def run_case(self, case: Case) -> CaseOutcome:
        assert self._driver is not None
        assert self._promise is not None
        if self._crew.is_lost:
            self._crew.dismiss()
            self._crew = self._hire()
        self._records.begin_case(case)
        self._progress.stages.enter(Stage.STARTING_AGENTS)
        live = self._live if self._live is not None and self._live.begin(case) else None
        with (
            self._progress.of(case, None if live is None else live.figures) as shown,
            self._beside.of(case),
        ):
            outcome = run_one_case(
                self._crew,
                case,
                self._driver,
                self._system,
                self._run,
                self._records,
                conduct_of(case.kind),
                self._promise,
                live_bootstrap=None if live is None else live.bootstrap,
                debug=self._debug,
                stages=self._progress.stages,
            )
            self._progress.stages.end()
            if outcome.status.reason:
                outcome.status.reason = strike_out(outcome.status.reason, self._environment)
            # What is shown as done is done: whoever ends us now does not find it undone.
            self._records.note_memory(outcome.peaks_bytes)
            self._records.end_case(case, outcome.status, outcome.client_settings)
            shown.ended(outcome.status)
        if live is not None:
            live.end(case, outcome.status.status, outcome.live)
            self._records.note_live(live.costs)
        return outcome

    def check_still_there(self) -> None:
        """If the target is gone, every further case would only wait for it."""
        assert self._driver is not None
        if (why := self._system.ended()) is not None:
            raise Unreachable(why)
        self._driver.check_reachable(REACH_DEADLINE_S)

    def close(self) -> None:
        try:
            self._crew.dismiss()
            if self._live is not None:
                self._live.close_target()
        finally:
            if self._driver is not None:
                self._driver.close()

    def _hire(self) -> Crew:
        return Crew(self._session, self._folder, self._agents, self._environment, self._hosts)


@contextmanager
def target_run(
    session: SparkSession,
    run: RunDir,
    folder: AgentsFolder,
    target: Target,
    launched_system: LaunchedSystem,
    cases: Sequence[Case],
    records: RunRecords,
    beside: BesideCase,
    *,
    progress: RunProgress,
    live: LiveView | None,
    debug: bool,
) -> Iterator[TargetRun]:
    """Agents come up while the system does; secrets are struck out of whatever goes wrong."""
    parts = {part.name: part for case in cases for part in case.targets}
    environment = {k: v for part in parts.values() for k, v in environment_of(part).items()}
    try:
        running = TargetRun(
            session,
            run,
            folder,
            agents_of(cases),
            wanted_hosts(cases),
            environment,
            records,
            beside,
            progress=progress,
            live=live,
            debug=debug,
        )
        try:
            running.connect(target, launched_system)
            yield running
        finally:
            running.close()
    except StreamgaugeError as error:
        raise type(error)(strike_out(str(error), environment)) from error
