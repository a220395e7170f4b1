"""One case from its topics to its manifests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest
from streamgauge.agents.sampler import Sampler
from streamgauge.core import errors
from streamgauge.core.errors import AgentDied, CaseFailed, CorruptRun, GivenUp, StreamgaugeError
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stages
from streamgauge.core.status import CaseStatus
from streamgauge.drivers.contract import Driver, Need
from streamgauge.faults.contract import Scene
from streamgauge.launch.agent_words import to_blame, why_broken
from streamgauge.launch.conduct import CaseSystem, Conduct
from streamgauge.launch.crew import Crew
from streamgauge.launch.fault_schedule import FaultSchedule
from streamgauge.launch.feasibility import faults_of
from streamgauge.launch.left_topics import TopicsPromise
from streamgauge.launch.live_resources import tell_resources
from streamgauge.launch.run_records import RunRecords
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case
from streamgauge.plan.fault_file import note_faults
from streamgauge.plan.warm_up_file import note_warm_up
from streamgauge.recording.journal import FewRows, Journal
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.load import Load
from streamgauge.tables.events import SAMPLES

_LAST_WORDS_S = 6.0
"""How long the agents of a broken case have to write what they recorded."""


@dataclass
class CaseOutcome:
    status: CaseStatus
    client_settings: dict[str, Any] = field(default_factory=dict)
    error: StreamgaugeError | None = None
    """Why the case broke; a run all of whose cases did ends with it."""
    holds: bool = True
    """False: the heavier cases of its series would be in vain."""
    live: list[dict[str, Any]] = field(default_factory=list)
    """What each agent says of its publishing for the live view, as far as it did."""
    peaks_bytes: dict[str, int] = field(default_factory=dict)
    """The most memory that each agent had, as far as it is known."""


def run_one_case(
    crew: Crew,
    case: Case,
    driver: Driver,
    system: TargetSystem,
    run: RunDir,
    records: RunRecords,
    conduct: Conduct,
    promise: TopicsPromise,
    *,
    live_bootstrap: str | None,
    debug: bool,
    stages: Stages,
) -> CaseOutcome:
    """Make the topics, run the agents, sample the brokers meanwhile, delete the topics."""
    made: list[str] = []
    # Those that nobody else can have are ours before they are made, should we be ended meanwhile.
    known = list(case.topics) if case.topic_settings.own_names else []
    try:
        if left := records.left_topics(case):
            with suppress(StreamgaugeError):  # mostly they are gone with their cluster
                driver.remove_topics(left)
        promise.give([] if case.topic_settings.keep else known)
        made = driver.prepare_topics(case.topic_settings, case.topics)
        promise.give([] if case.topic_settings.keep else made)
        records.note_topics(case, made)
        offsets = driver.end_offsets(case.topics, case.topic_settings.partitions)
        with conduct.around(run, case, system, crew.folder.outside) as own:
            endpoints = {
                **system.endpoints,
                **system.agents_endpoints,
                **driver.endpoints(),
                **own.endpoints,
            }
            # Without the secrets, which are not to be in any file: the crew has them.
            assignments = {
                task.agent: Assignment.of(
                    crew.agents_run,
                    case,
                    task,
                    endpoints,
                    offsets,
                    debug=debug,
                    live_bootstrap=live_bootstrap,
                )
                for task in case.agents
            }
            driver.check_rights(case.topics, _need(case, assignments, made))
            with (
                _system_samples(run, case, driver, system, own),
                _faults(run, _scene(case, driver, system, own, crew)) as faults,
            ):
                try:
                    outcome = _run_agents(
                        crew,
                        run,
                        case,
                        assignments,
                        conduct,
                        lambda: system.ended() or own.ended(),
                        {**system.processes, **{name: pid for name, (_, pid) in own.processes.items()}},
                        stages,
                        faults.begin,
                    )
                finally:
                    crew.logs.tell(assignments)
                    crew.folder.carry_over(run)
    except StreamgaugeError as error:
        outcome = CaseOutcome(CaseStatus("failed", str(error)), error=error)
    except BaseException:
        if system.ended() is None:
            _remove(driver, case, made or known)
        promise.kept()
        raise
    if system.ended() is None and (left_behind := _remove(driver, case, made)):
        said = outcome.status.reason
        outcome.status.reason = f"{said}; {left_behind}" if said else left_behind
    promise.kept()
    return outcome


def _need(case: Case, assignments: Mapping[str, Assignment], made: list[str]) -> Need:
    """Of a family with roles of its own nobody knows that it does only one of the two."""
    roles = {task.kind for task in case.agents}
    groups = {assignment.group for assignment in assignments.values() if isinstance(case.work, Load)}
    return Need(
        writes=roles != {"consumer"},
        reads=roles != {"producer"},
        deletes=bool(made) and not case.topic_settings.keep,
        groups=tuple(group for group in groups if group is not None),
    )


def _remove(driver: Driver, case: Case, made: list[str]) -> str | None:
    """Delete the topics that were made; a case is no worse for topics that stay, but it is said."""
    if case.topic_settings.keep or not made:
        return None
    try:
        driver.remove_topics(made)
    except StreamgaugeError as error:
        return f"topics are left behind: {error}"
    return None


def _run_agents(
    crew: Crew,
    run: RunDir,
    case: Case,
    assignments: dict[str, Assignment],
    conduct: Conduct,
    ended: Callable[[], str | None],
    pids: Mapping[str, int],
    stages: Stages,
    measuring: Callable[[int], bool],
) -> CaseOutcome:
    try:
        manifests, reason = crew.run_case(assignments, ended, pids, stages, measuring), ""
    except AgentDied as error:
        manifests, reason = _last_words(crew.folder.staged or run, case), str(error)
    finally:
        # Also of a case that is given up: what it has recorded may be analysed.
        if crew.warm_up is not None:
            note_warm_up(run, case.id, crew.warm_up)
    outcome = CaseOutcome(CaseStatus("ok"), _settings(manifests))
    outcome.live = [manifest.live for manifest in manifests if manifest.live]
    outcome.peaks_bytes = {m.agent: m.peak_rss_bytes for m in manifests if m.peak_rss_bytes}
    if reason or any(m.outcome == "died" for m in manifests):
        died = "; ".join(why_broken(m) for m in manifests if m.outcome == "died" and m.reason)
        outcome.status = CaseStatus("partial", died or reason, is_broken_off=True)
        outcome.error = AgentDied(f"case {case.id}: {died or reason}")
        return outcome
    if all(m.error in (None, CaseFailed.__name__, GivenUp.__name__) for m in manifests):
        judged = conduct.judge(case, manifests)
        if judged is not None:
            # That a series comes to its end is what it was run for.
            outcome.status, outcome.holds = CaseStatus("ok", judged.words, holds=judged.holds), judged.holds
            return outcome
    failed = to_blame(manifests)
    late = [m for m in manifests if m.outcome == "timed_out"]
    if failed:
        why = why_broken(failed)
        outcome.status = CaseStatus("failed", why)
        outcome.error = getattr(errors, failed.error or "", CaseFailed)(f"case {case.id}: {why}")
    elif late:
        agents = ", ".join(m.agent for m in late)
        usual = f"not done in time: {agents} (load.time_limit, load.drain_timeout)"
        outcome.status = CaseStatus("partial", next((m.reason for m in late if m.reason), usual))
    return outcome


def _last_words(run: RunDir, case: Case) -> list[Manifest]:
    """The manifests of the agents that could still write one."""
    deadline = time.monotonic() + _LAST_WORDS_S
    expected = {task.agent for task in case.agents}
    while True:
        found: dict[str, Manifest] = {}
        for agent in sorted(expected):
            path = run.manifest(case.id, agent)
            if run.has(path):
                try:
                    found[agent] = Manifest(**run.read_json(path))
                except (CorruptRun, TypeError):
                    continue
        if len(found) == len(expected) or time.monotonic() > deadline:
            return list(found.values())
        time.sleep(0.1)


def _settings(manifests: list[Manifest]) -> dict[str, Any]:
    """Client settings in force: one producer's and one consumer's stand for all of their kind."""
    known = [manifest for manifest in reversed(manifests) if manifest.settings]
    return {manifest.agent.partition("-")[0]: manifest.settings for manifest in known}


def _scene(case: Case, driver: Driver, system: TargetSystem, own: CaseSystem, crew: Crew) -> Scene:
    return Scene(
        case,
        driver,
        system.members,
        links=system.links,
        disks=system.disks,
        servers=own.members,
        kill_agent=crew.kill,
    )


@contextmanager
def _faults(run: RunDir, scene: Scene) -> Iterator[FaultSchedule]:
    """What is done to the system meanwhile; after that it is whole again."""
    specs = faults_of(scene.case)
    keep = partial(note_faults, run, scene.case.id) if specs else lambda records: None
    schedule = FaultSchedule(specs, scene, keep)
    try:
        yield schedule
    finally:
        if specs:
            schedule.close()


@contextmanager
def _system_samples(
    run: RunDir, case: Case, driver: Driver, system: TargetSystem, own: CaseSystem
) -> Iterator[None]:
    """CPU, memory, network and disk of brokers and of what else is up that we know, and of this machine."""
    if driver.capabilities.simulated_time:
        yield  # real samples say nothing about simulated seconds
        return
    watched = {name: ("broker", pid) for name, pid in system.processes.items()}
    watched |= own.processes
    journal = Journal(run, case.id, "launcher")

    def tell_and_keep() -> None:
        tell_resources(run, case.id, sampler.rows)
        if run.is_quick:
            journal.look()

    sampler = Sampler(watched, machine=True, each_time=tell_and_keep, traffic=own.traffic, told=own.told)
    samples = FewRows(SAMPLES, sampler.rows, EventFiles(run, case.id, "launcher"))
    journal.follow(samples.keep)
    sampler.start()
    try:
        yield
    finally:
        sampler.stop()
        samples.close()
        journal.close()
