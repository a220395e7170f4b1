"""The life of a run: plan it, bring systems up, run every case, bring them down, keep everything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from pyspark.sql import SparkSession
from rich.console import Console

from streamgauge.core.errors import BadInput, Refused, StreamgaugeError, Unreachable
from streamgauge.core.memory import ANALYSING, LAUNCHER, TreeWatch, peak_rss_bytes
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage, Stages, seconds_together
from streamgauge.core.status import CaseStatus, RunStatus, note_stages
from streamgauge.launch.agents_folder import AgentsFolder, agents_folder
from streamgauge.launch.beside_case import BesideCase, RollUps
from streamgauge.launch.cluster_settings import launcher_address
from streamgauge.launch.conduct import conduct_of
from streamgauge.launch.feasibility import equipment_for, impossible_cases
from streamgauge.launch.hadoop_java import check_folders_scheme
from streamgauge.launch.live_choice import LiveChoice
from streamgauge.launch.live_view import LiveView
from streamgauge.launch.live_wish import LiveWish
from streamgauge.launch.log_room import log_room_notes, refuse_without_room
from streamgauge.launch.progress import RunProgress
from streamgauge.launch.run_records import RunRecords
from streamgauge.launch.run_session import OneSession, master_and_view
from streamgauge.launch.served_load import served_load_notes
from streamgauge.launch.spark_session import spark_session
from streamgauge.launch.stage_line import fetching_shown
from streamgauge.launch.target_run import TargetRun, target_run
from streamgauge.launch.target_system import launched
from streamgauge.plan.cases import Case
from streamgauge.plan.family_tables import event_tables_of
from streamgauge.plan.plan_file import Plan, make_plan, read_plan, write_plan
from streamgauge.plan.slots import local_slots
from streamgauge.recording.salvage import salvage
from streamgauge.spec.families import family_of
from streamgauge.spec.loading import dump_yaml
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload

ANALYSIS_MASTER = "local[*]"
_FEW_MESSAGES = 1_000_000
"""Up to here what a Java that compiles for speed would gain is less than what the compiling takes."""


class RunCycle:
    """One run. `measure` leaves a run folder with events, whatever happens after it was made."""

    def __init__(
        self,
        run: RunDir,
        plan: Plan,
        records: RunRecords,
        *,
        master: str,
        console: Console,
        show_progress: bool,
        debug: bool,
        live: LiveChoice,
    ) -> None:
        self.run, self.plan, self._records, self._master, self._debug = run, plan, records, master, debug
        conduct = conduct_of(plan.kind)
        self._conduct = conduct
        self._impossible = impossible_cases(plan.cases, conduct.why_impossible)
        done = sum(status.is_finished for status in records.status.cases.values())
        self._course = conduct.course(run, plan, records)
        total = None if self._course else len(plan.cases)
        self._progress = RunProgress(run, total, console, is_shown=show_progress, done=done)
        self._earlier_s = dict(records.status.stages_s)
        self._errors: list[StreamgaugeError] = []
        self.is_refused = False
        """Then there is no run folder any more."""
        self._live: LiveView | None = None
        if live.is_on:
            self._live = LiveView(run.id, live.wish, total, master, self._progress.tell)
        elif live.is_refused:
            self._progress.tell(f"live view: none: {live.why_not}")
        served = served_load_notes(plan.cases, run, launcher_address(master), conduct.served_load)
        for note in itertools.chain(served, log_room_notes(plan.cases)):
            self._progress.tell(note)
        self._restarts = len({case.target.name for case in plan.cases}) > 1
        """With one target, a system that is gone is what the run tells; with several, it goes on."""

    @classmethod
    def new(cls, workload: Workload, *, out: str, master: str | None, live: LiveWish, **shown: Any) -> Self:
        """A run of its own; what can be known to be wrong is said before its folder is made."""
        conduct = conduct_of(workload.kind)
        conduct.check(workload)
        plan = make_plan(workload, "check")
        impossible_cases(plan.cases, conduct.why_impossible)
        refuse_without_room(plan.cases)
        master, choice = master_and_view(plan, master, live, **shown)
        check_folders_scheme(out)
        run = RunDir.create(out, workload.name)
        plan = make_plan(workload, run.id)
        run.write_text(run.workload, dump_yaml(workload))
        records = RunRecords.new(run, master, can_resume=not family_of(workload.kind).no_resuming)
        write_plan(plan, run)  # last: whoever finds a plan finds a run
        return cls(run, plan, records, master=master, live=choice, **shown)

    @classmethod
    def resumed(cls, run: RunDir, *, master: str | None, live: LiveWish, **shown: Any) -> Self:
        """A run that ended before its last case; it goes on after the last one that it finished."""
        plan = read_plan(run)
        conduct = conduct_of(plan.kind)
        if no_resuming := family_of(plan.kind).no_resuming:
            raise BadInput(
                f"{run.location}: {no_resuming}, so it cannot be resumed; "
                f"do it again with: streamgauge run {run.url(run.workload)}"
            )
        impossible_cases(plan.cases, conduct.why_impossible)
        refuse_without_room(plan.cases)
        master, choice = master_and_view(plan, master, live, **shown)
        return cls(
            run,
            plan,
            RunRecords.resumed(run, master, event_tables_of(plan.kind)),
            master=master,
            live=choice,
            **shown,
        )

    @property
    def status(self) -> RunStatus:
        return self._records.status

    @property
    def stages(self) -> Stages:
        return self._progress.stages

    def stages_s(self) -> dict[str, float]:
        """Seconds by stage of the whole run: if it was resumed, those of the processes before, too."""
        return seconds_together(self._earlier_s, self.stages.seconds())

    @property
    def plans_as_it_goes(self) -> bool:
        """Then nobody knows how many cases there will be."""
        return self._course is not None

    @property
    def can_go_on(self) -> bool:
        """Whether it is worth resuming if it ends now."""
        if family_of(self.plan.kind).no_resuming or self.is_refused:
            return False
        ended = [status for status in self.status.cases.values() if status.is_finished]
        return self._course is not None or len(ended) < len(self.plan.cases)

    def measure(self, afterwards: Callable[[SparkSession], None], roll_ups: RollUps | None = None) -> None:
        """Run every case, then `afterwards` (the analysis) on the same Spark session. `roll_ups`: what keeps
        events small meanwhile."""
        try:
            try:
                with fetching_shown(self.stages, self._progress.stage_line):
                    self._run_targets(afterwards, roll_ups)
            finally:
                self._note_stages()
        except KeyboardInterrupt:
            self._records.end_early("interrupted")
            raise
        except StreamgaugeError as error:
            self._records.end_early(str(error))
            nothing_was_run = not self.status.cases or self._is_refused_everywhere()
            if isinstance(error, BadInput) and nothing_was_run:
                self.is_refused = True
                self.run.remove("")  # nothing was run; what there is to say of it is the error
            raise
        except Exception as error:
            self._records.end_early(f"{type(error).__name__}: {error}")
            raise

    def _note_stages(self) -> None:
        """How long each took, wherever it ended; while it is measured, with all else that is noted."""
        self.stages.end()
        self.status.stages_s = self.stages_s()
        if self.status.status != "running":
            # Not the status as we know it: the analysis has noted in it how far it came.
            with suppress(BadInput):
                note_stages(self.run, self.stages_s())

    def _is_refused_everywhere(self) -> bool:
        """No case got as far as its agents: the target's user may not do what each of them needs."""
        return len(self._errors) == len(self.plan.cases) and all(
            isinstance(error, Refused) for error in self._errors
        )

    def _run_targets(self, afterwards: Callable[[SparkSession], None], roll_ups: RollUps | None) -> None:
        beside = BesideCase(
            self.run, self.plan, self._master, roll_ups, plans_as_it_goes=self.plans_as_it_goes
        )
        todo = [case for case in self.plan.cases if case.id not in self._records.status.cases]
        if self._course is not None:
            todo = list(self.plan.cases)  # for who has to know of agents and targets beforehand
        by_target = [(t, list(c)) for t, c in itertools.groupby(todo, lambda case: case.target)]
        with ExitStack() as stack:
            sessions = OneSession(stack, self._session)
            if self._live is not None:
                stack.callback(self._live.close, "the run has ended")
            agents = max((len(case.agents) for case in self.plan.cases), default=1)
            folder = stack.enter_context(agents_folder(self.run, launcher_address(self._master), agents))
            if folder.staged is not None:
                self._progress.look_in(folder.staged)
            for target, cases in by_target:
                try:
                    self._run_target(target, cases, sessions, folder, beside)
                except StreamgaugeError as error:
                    if len(by_target) == 1:
                        raise
                    # The other targets have nothing to do with it.
                    for case in cases:
                        self._skip(case, error)
            if self._live is not None:
                self._live.close("the cases are done; the report follows")
            if len(self._errors) == len(self.plan.cases):
                raise self._errors[0]  # there is nothing to tell but why
            if self._course is None:
                self._records.finish()
            else:
                self._records.finish_course(self._course.failure())
            salvage(self.run)
            if not self._is_readable_there():
                stack.close()  # a process has one session at a time
                sessions = OneSession(stack, lambda: self._session(ANALYSIS_MASTER))
            self.stages.enter(Stage.ANALYSING)
            with TreeWatch() as memory:
                afterwards(sessions.get())
            self._records.note_memory({LAUNCHER: peak_rss_bytes(), ANALYSING: memory.peak_bytes})

    def _is_readable_there(self) -> bool:
        """Hosts of a cluster cannot read a path of this one."""
        return local_slots(self._master) is not None or self.run.is_everywhere

    def _run_target(
        self,
        target: Target,
        cases: list[Case],
        sessions: OneSession,
        folder: AgentsFolder,
        beside: BesideCase,
    ) -> None:
        """All cases of a target, which are taken from the list as they are done.

        A system of ours that is gone after a case that broke is started anew for the rest.
        """
        while any(case.id not in self._impossible for case in cases):
            before = len(cases)
            self.stages.enter(Stage.STARTING_SYSTEM)
            try:
                with launched(
                    target, self._log_dir(), folder.outside, equipment=equipment_for(cases)
                ) as system:
                    # The brokers come up while Spark does.
                    self.stages.enter(Stage.STARTING_SPARK)
                    session = sessions.get()
                    with target_run(
                        session,
                        self.run,
                        folder,
                        target,
                        system,
                        cases,
                        self._records,
                        beside,
                        progress=self._progress,
                        live=self._live,
                        debug=self._debug,
                    ) as running:
                        if self._course is None:
                            self._run_cases(running, _in_turn(cases), beside)
                        else:
                            cases.clear()  # the course makes its own
                            self._run_cases(running, self._course.cases(self._progress), beside)
                            self.plan = self._course.plan
            except Unreachable:
                if target.system is None or len(cases) == before or not self._restarts:
                    raise
        while cases:
            self._skip(cases[0], self._impossible[cases[0].id])
            cases.pop(0)

    def _run_cases(self, running: TargetRun, cases: Iterable[Case], beside: BesideCase) -> None:
        went_well, ended = True, dict[str, str]()
        for case in cases:
            if not went_well:
                running.check_still_there()
                went_well = True
            if case.id in self._impossible:
                self._skip(case, self._impossible[case.id])
                continue
            if case.series in ended:
                self._note(case, CaseStatus("ok", f"not run: {ended[case.series]}", is_skipped=True))
                continue
            if told := beside.foretold(case, self._conduct.message_count(case)):
                self._progress.tell(told)
            self.status.stages_s = self.stages_s()  # written as the case begins: we may be killed in it
            outcome = running.run_case(case)
            if case.series and not outcome.holds:
                ended[case.series] = f"{case.series} did not hold at {self._conduct.words_of(case)}"
            if outcome.error is not None:
                self._errors.append(outcome.error)
                went_well = False

    def _skip(self, case: Case, error: StreamgaugeError) -> None:
        """Note a case that cannot be run."""
        self._note(case, CaseStatus("failed", str(error)))
        self._errors.append(error)

    def _note(self, case: Case, status: CaseStatus) -> None:
        self.stages.end()
        with self._progress.of(case) as shown:
            shown.ended(status)
        self._records.end_case(case, status, {})

    def _session(self, master: str | None = None) -> Any:
        slots = 1 if master else self.plan.slots_needed
        log = self._log_dir() / "spark.log"
        level = "WARN" if self._debug else "ERROR"
        if master is not None or self._live is None:
            return spark_session(master or self._master, slots, log, level, is_light=self._is_little())
        return spark_session(self._master, slots, log, level, spare_slots=1, jars=self._live.jars())

    def _is_little(self) -> bool:
        """Whether so few messages are planned that Spark will have next to nothing to compute."""
        counts = [self._conduct.message_count(case) for case in self.plan.cases]
        known = [count for count in counts if count is not None]
        return self._course is None and len(known) == len(counts) and sum(known) <= _FEW_MESSAGES

    def _log_dir(self) -> Path:
        folder = self.run.local("logs") if self.run.is_local else Path.cwd() / f"{self.run.id}-logs"
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # libraries log what they please
        return folder


def _in_turn(cases: list[Case]) -> Iterator[Case]:
    """Each stays in the list until the next one is asked for."""
    while cases:
        yield cases[0]
        cases.pop(0)
