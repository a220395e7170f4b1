"""A referee's life: open the libraries, meet the launcher, lead the comparison, write everything down."""

from __future__ import annotations

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest, write_manifest
from streamgauge.agents.live import Live
from streamgauge.agents.rendezvous import Rendezvous
from streamgauge.core.clock import read_clocks
from streamgauge.core.errors import StreamgaugeError
from streamgauge.drivers.contract import Driver
from streamgauge.drivers.registry import open_driver
from streamgauge.families.compare.library_processes import LibraryProcesses
from streamgauge.families.compare.planned_comparison import PlannedComparison
from streamgauge.families.compare.referee import Referee
from streamgauge.plan.warm_up_file import warm_up_of_parts
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.secrets import fill_in


class RefereeLife:
    """Whatever happens, every trial that was made is written, and no library's process stays."""

    def __init__(self, assignment: Assignment) -> None:
        planned = assignment.work_as(PlannedComparison)
        self._assignment, self._planned = assignment, planned
        self._files = EventFiles(assignment.run_dir, assignment.case, assignment.task.agent)
        self._libraries = LibraryProcesses(assignment, planned, assignment.environment)
        self._driver: Driver | None = None
        self._referee: Referee | None = None
        self.manifest = Manifest(assignment.task.agent, assignment.case)

    def run(self, rendezvous: Rendezvous) -> None:
        assignment = self._assignment
        # Topics are made through A's driver; nothing of it is timed.
        target = fill_in(assignment.target, assignment.environment)
        self._driver = open_driver(target, assignment.endpoints)
        self._libraries.start()
        self._referee = referee = Referee(
            assignment, self._planned, self._driver, self._libraries, self._files, Live(assignment)
        )
        rendezvous.ready(read_clocks(), meanwhile=referee.idle)
        referee.run(rendezvous)
        if rendezvous.stopping():
            self.manifest.outcome = "stopped"
        elif referee.timed_out:
            self.manifest.outcome = "timed_out"
            self.manifest.reason = "not every cell has had its repetitions in time (comparison.time_limit)"

    def close(self) -> None:
        try:
            if self._referee is not None:
                self._referee.keep()
        except StreamgaugeError as error:
            self.manifest.outcome, self.manifest.reason = "failed", str(error)
            self.manifest.error = type(error).__name__
        if self._planned.comparison.warm_up_messages == "auto" and self._libraries.warm_ups:
            self.manifest.warm_up = warm_up_of_parts(self._libraries.warm_ups).model_dump(mode="json")
        self.manifest.counts = dict(self._files.rows)
        write_manifest(self._assignment, self.manifest)
        self._libraries.close()
        if self._driver is not None:
            self._driver.close()
