"""What a run keeps about itself while it goes on: status.json and environment.json, always up to date."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable, Mapping
from typing import Any, Self

from streamgauge.core.environment import describe_machine
from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import mark
from streamgauge.core.other_guardians import wait_until_seen_to
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, kept_after_s, read_status, write_status
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.spec.target import Target
from streamgauge.tables.column import Table


class RunRecords:
    def __init__(self, run: RunDir, environment: dict[str, Any], status: RunStatus) -> None:
        self._run, self._environment, self.status = run, environment, status
        self._left_topics: dict[str, list[str]] = {}
        status.kept_after_s = kept_after_s(run)
        status.mark = mark()
        self._write()

    @classmethod
    def new(cls, run: RunDir, master: str, *, can_resume: bool = True) -> Self:
        environment = {**describe_machine(), "master": master, "systems": {}, "clients": {}}
        status = RunStatus(is_analysed=False, is_reported=False, can_resume=can_resume)
        return cls(run, environment, status)

    @classmethod
    def resumed(cls, run: RunDir, master: str, event_tables: Iterable[Table]) -> Self:
        """Finished cases stay as they are; of a case that was cut off nothing is kept."""
        before = read_status(run)
        if before.status == "running":
            raise BadInput(f"{run.location}: is still running, in process {before.pid}; end that first")
        _wait_for_the_end(run, before)
        finished = {case: status for case, status in before.cases.items() if status.is_finished}
        begun = {case: status for case, status in before.cases.items() if case not in finished}
        _drop_events(run, begun, event_tables)
        run.remove_unfinished()
        environment = run.read_json(run.environment) if run.has(run.environment) else {}
        now = {**describe_machine(), "master": master}
        changed = {name: value for name, value in now.items() if environment.get(name) != value}
        # Two halves measured under different conditions must not pass for one.
        note = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "after_cases": len(finished)}
        environment.setdefault("resumed", []).append(note | ({"changed": changed} if changed else {}))
        status = RunStatus(cases=finished, is_analysed=False, is_reported=False, stages_s=before.stages_s)
        records = cls(run, environment, status)
        records._left_topics = {case: status.made_topics for case, status in begun.items()}
        return records

    def left_topics(self, case: Case) -> list[str]:
        """Topics that an earlier attempt made and could not delete."""
        return self._left_topics.get(case.id, [])

    def note_system(self, target: Target, system: TargetSystem, facts: dict[str, Any]) -> None:
        """`facts`: what is known of it, and its settings in force, without secrets."""
        about = {"description": system.description, **facts}
        self._environment.setdefault("systems", {})[target.name] = about
        self._write()

    def note_live(self, costs: Mapping[str, Any]) -> None:
        """What the live view cost, by case."""
        self._environment["live_view"] = {f"case {case}": cost for case, cost in costs.items()}
        self._write()

    def note_memory(self, peaks_bytes: Mapping[str, int]) -> None:
        """The most that each had, of whoever is known by now. Not the status: the analysis may have it."""
        known = self._environment.setdefault("memory_peaks_bytes", {})
        known.update({name: max(peak, known.get(name, 0)) for name, peak in peaks_bytes.items()})
        self._run.write_json(self._run.environment, self._environment)

    def begin_case(self, case: Case) -> None:
        # Topics that nobody else can have are known before they are made.
        own = list(case.topics) if case.topic_settings.own_names else []
        self.status.cases[case.id] = CaseStatus("running", made_topics=own)
        write_status(self._run, self.status)

    def note_topics(self, case: Case, made: list[str]) -> None:
        if self.status.cases[case.id].made_topics != made:
            self.status.cases[case.id].made_topics = made
            write_status(self._run, self.status)

    def end_case(self, case: Case, status: CaseStatus, client_settings: dict[str, Any]) -> None:
        self.status.cases[case.id] = status
        clients = self._environment.setdefault("clients", {}).setdefault(case.target.name, {})
        clients.update(client_settings)
        self._write()

    def finish(self) -> None:
        """Every case had its turn."""
        broken = [case for case, status in self.status.cases.items() if status.status != "ok"]
        self.status.status = "failed" if broken else "ok"
        self.status.reason = f"case {', '.join(broken)} failed" if broken else None
        self._write()

    def finish_course(self, failure: str | None) -> None:
        """A run that planned as it went is whole whatever became of single cases."""
        self.status.status = "failed" if failure else "ok"
        self.status.reason = failure
        self._write()

    def end_early(self, reason: str) -> None:
        if self.status.status != "running":
            return  # measured to the end; it was the analysis that failed
        self.status.status, self.status.reason = "partial", reason
        for case in self.status.cases.values():
            if case.status == "running":
                case.status, case.reason, case.is_cut_off = "partial", reason, True
        # The reason is on its way to the user; that it cannot be noted down (a full disk) is not worth more.
        with contextlib.suppress(BadInput):
            self._write()

    def _write(self) -> None:
        write_status(self._run, self.status)
        self._run.write_json(self._run.environment, self._environment)


def _wait_for_the_end(run: RunDir, before: RunStatus) -> None:
    """The guardian of a killed run deletes the topics that the run had promised to delete, and the case that
    is done again has topics of the same names."""
    is_here = before.host == socket.gethostname()
    if before.mark and is_here and not wait_until_seen_to(before.mark):
        raise BadInput(
            f"{run.location}: what it left when it was killed is still being ended; try again in a minute"
        )


def _drop_events(run: RunDir, cases: Iterable[str], tables: Iterable[Table]) -> None:
    for case in cases:
        for table in tables:
            run.remove(run.events(table.name, case))
        run.remove(run.rolled(case))
        for folder in (run.manifests(), run.journals):
            for path in list(run.list_files(folder)):
                if path.removeprefix(f"{folder}/").startswith(f"{case}-"):
                    run.remove(path)
