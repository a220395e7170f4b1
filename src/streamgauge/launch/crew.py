"""The crew of a target: its agents' processes, hired once and led through all of its cases.

A Spark barrier job holds a task for every agent, all at once, from the first case to the last; each task
keeps one agent process. Launcher and tasks talk through the files of a `Meeting`.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import asdict
from itertools import chain
from typing import Any

from pyspark.sql import SparkSession

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import KILLED, Manifest
from streamgauge.core.clock import NS_PER_S, ClockReading, clock_domain
from streamgauge.core.environment import host_name
from streamgauge.core.errors import AgentDied, BadInput, CaseFailed, SystemFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage, Stages
from streamgauge.core.steady_state import SLOT_S
from streamgauge.launch.agent_words import AgentLogs, tell_done, tell_ready
from streamgauge.launch.agents_folder import AgentsFolder
from streamgauge.launch.agreed_start import ReadyAgent, agreed_start
from streamgauge.launch.clock_watch import ClockWatch
from streamgauge.launch.cluster_settings import settled_slots
from streamgauge.launch.crew_member import CrewMember
from streamgauge.launch.meeting import Call, Meeting, kill_word
from streamgauge.launch.same_version import check_same_version, own_version
from streamgauge.launch.seating import give_seats, take_seat
from streamgauge.launch.settling import Settling
from streamgauge.plan.warm_up_file import WarmUp
from streamgauge.spec.fault import DisturbedWork

_READY_DEADLINE_S, _READY_S_AN_AGENT = 120.0, 0.6
"""Each imports for half a CPU second, and many may share a core."""
_DONE_MARGIN_S = 120.0
_LAST_WORDS_S = 8.0
"""How long the agents of a case that is given up have to write what they recorded."""
_KILL_DEADLINE_S = 30.0
"""What it had recorded may be millions of rows."""
_DISMISS_DEADLINE_S = 15.0
_CANCEL_DEADLINE_S = 10.0
_WAITING_LOOKS = 5
_SYSTEM_LOOK_S = 0.5
_LOST_HOST = re.compile(r"ResultTask\(\d+, (?P<task>\d+)\) finished unsuccessfully\.\s+ExecutorLostFailure")
_OWN_ERROR = re.compile(r"(?:streamgauge\.core\.errors\.\w+: |OSError: (?=the launcher at ))(.+)")


def why_ended(told: str) -> str:
    """In our own words, if they are in what Spark tells of a task that broke; else its first line."""
    ours = _OWN_ERROR.findall(told)
    return ours[-1] if ours else f"Spark ended the agents: {told.strip().splitlines()[0]}"


class Crew:
    """One barrier job. It is lost when Spark ends the job; then a new crew has to be hired."""

    def __init__(
        self,
        session: SparkSession,
        folder: AgentsFolder,
        agents: Sequence[str],
        environment: dict[str, str],
        hosts: Mapping[str, str] | None = None,
    ) -> None:
        """`hosts`: by agent, the follower that it has to be on; others are anywhere."""
        self._context, self._agents, self._hosts = session.sparkContext, list(agents), hosts or {}
        self._seats: list[str | None] | None = None if self._hosts else list(agents)
        """By task: its agent; None as a whole: they have not been given yet."""
        task_count = max(len(agents), settled_slots(session)) if self._hosts else len(agents)
        self._task_count = task_count
        self.hostnames: dict[str, str] = {}
        """By agent, as far as they told."""
        self.warm_up: WarmUp | None = None
        """How that of the last case ended, if it went on until the load was at rest."""
        self._call: Call | None = None
        self.folder, self.agents_run = folder, RunDir(folder.run)
        self.logs = AgentLogs(folder.staged or folder.meeting_here)
        place, domain = f"meeting-{secrets.token_hex(3)}", clock_domain()
        is_served = folder.meeting_here.location != folder.meeting
        self._meeting = Meeting(folder.meeting_here, place, is_served=is_served, members=task_count)
        run, meeting, reach = folder.run, folder.meeting, folder.environment
        version, fixed = own_version(), self._seats

        def serve(numbers: Iterable[int]) -> Iterable[str]:
            # Here and not at the top: on other hosts the package is found by what this sets.
            os.environ.update(reach)
            check_same_version(version)
            for number in numbers:
                words = Meeting(RunDir(meeting), place, members=task_count)
                first = words.before_the_first()
                agent = fixed[number] if fixed is not None else take_seat(first, number, host_name())
                if agent is not None:
                    watch = ClockWatch(meeting, domain)
                    CrewMember(RunDir(run), agent, words, environment, watch).serve()
                    yield agent

        numbers = list(range(task_count))
        tasks = self._context.parallelize(numbers, task_count).barrier().mapPartitions(serve)
        self._job: Future[Any] = Future()
        # A daemon, so that a job that cannot be cancelled keeps nobody from ending.
        threading.Thread(target=self._work, args=(tasks.collect,), name="crew", daemon=True).start()

    @property
    def is_lost(self) -> bool:
        return self._job.done()

    def run_case(
        self,
        assignments: Mapping[str, Assignment],
        ended: Callable[[], str | None] = lambda: None,
        pids: Mapping[str, int] | None = None,
        stages: Stages | None = None,
        measuring: Callable[[int], bool] = lambda since_ns: False,
    ) -> list[Manifest]:
        """Lead all agents of a case to its end; AgentDied when Spark ended the crew meanwhile.

        `ended`: what of the system under test is gone. Clients would go on trying for minutes. `pids`: its
        processes, which have to be at rest, too, where a warm-up waits for that. `stages`: told where it is.
        `measuring`: told since when messages count, by the launcher's clock, as soon as that is known; true:
        the system is going to be disturbed on purpose, and nobody is to wait until it is at rest again.
        """
        self._seat()
        told = {agent: json.loads(a.model_dump_json(by_alias=True)) for agent, a in assignments.items()}
        call = self._call = self._meeting.call(told)
        told_stages, self.warm_up = stages or Stages(), None
        conversation = _Conversation(
            self, self._meeting, call, assignments, ended, pids or {}, told_stages, measuring
        )
        try:
            conversation.lead()
            self.warm_up = conversation.warm_up
            return conversation.manifests()
        except BaseException:
            conversation.give_up()
            self.warm_up = _warm_up_told_by(conversation.manifests())
            raise

    def _seat(self) -> None:
        if self._seats is None:
            first = self._meeting.before_the_first()
            try:
                self._seats = give_seats(
                    first, self._task_count, self._agents, self._hosts, lambda: self.is_lost
                )
            except AgentDied as error:
                raise AgentDied(self.why_lost() if self.is_lost else str(error)) from None

    def kill(self, agent: str) -> None:
        """End an agent of the case that is run now, as a fault; its task writes what it had recorded."""
        if (call := self._call) is None:
            raise CaseFailed(f"{agent} cannot be killed: no case is run")
        if call.told(agent, "done") is not None:
            raise CaseFailed(f"{agent} had ended before it was to be killed")
        call.say(kill_word(agent), True)
        deadline = time.monotonic() + _KILL_DEADLINE_S
        while call.told(agent, "done") is None:
            if time.monotonic() > deadline or self.is_lost:
                raise CaseFailed(f"{agent} was not gone {_KILL_DEADLINE_S:g} s after it was to be killed")
            time.sleep(self._meeting.launchers_look_s)

    def dismiss(self) -> None:
        """No more cases: agents end, and with them the job."""
        if not self.is_lost:
            with suppress(BadInput):  # where nothing can be written, Spark has to end them
                self._meeting.end()
                wait([self._job], _DISMISS_DEADLINE_S)
        if not self.is_lost:
            self._context.cancelAllJobs()
            wait([self._job], _CANCEL_DEADLINE_S)
        self._meeting.clear()

    def why_lost(self) -> str:
        """In our own words where a task found them, such as a disk that is full."""
        error = self._job.exception() if self._job.done() else None
        if error is None:
            return "the agents' tasks ended before the case did"
        if (lost := _LOST_HOST.search(str(error))) is not None:
            return self._lost_host(int(lost["task"]))
        return why_ended(str(error))

    def _lost_host(self, task: int) -> str:
        """A follower by its name, with those of its agents."""
        agent = self._seats[task] if self._seats is not None else None
        hostname = self.hostnames.get(agent or "")
        if hostname is None:
            return f"the follower of {agent or 'a task without an agent'} was lost"
        agents = [agent for agent in self._agents if self.hostnames.get(agent) == hostname]
        return f"follower {hostname} was lost, with {', '.join(agents)}"

    def _work(self, collect: Callable[[], list[str]]) -> None:
        try:
            self._job.set_result(collect())
        except BaseException as error:  # handed to the thread that looks
            self._job.set_exception(error)


class _Conversation:
    """What launcher and agents say to each other about one case."""

    def __init__(
        self,
        crew: Crew,
        meeting: Meeting,
        call: Call,
        assignments: Mapping[str, Assignment],
        ended: Callable[[], str | None],
        pids: Mapping[str, int],
        stages: Stages,
        measuring: Callable[[int], bool],
    ) -> None:
        self._stages, self._started_s, self._measuring, self._start_ns = stages, 0.0, measuring, 0
        self._is_disturbed = False
        self._crew, self._meeting, self._call = crew, meeting, call
        self._ended, self._looked_s = ended, 0.0
        self._any = one = next(iter(assignments.values()))
        self._agents = list(assignments)
        self._producers = [agent for agent, a in assignments.items() if a.task.kind == "producer"]
        self._numbers = {agent: a.task.numbers for agent, a in assignments.items()}
        self._done: dict[str, Manifest] = {}
        terms = one.settling
        self._settling = Settling(terms, self._agents, pids, call, meeting.lead_s) if terms else None

    def lead(self) -> None:
        """To the end, or until an agent breaks: then the others are given up too."""
        deadline_s = _READY_DEADLINE_S + _READY_S_AN_AGENT * len(self._agents)
        readings = self._gather("ready", self._agents, deadline_s)
        if readings is None:
            return self.give_up()
        ready = {agent: _ready_agent(told) for agent, told in readings.items()}
        tell_ready(ready)
        self._crew.hostnames.update({agent: known.hostname for agent, known in ready.items()})
        starts = agreed_start(ready, self._meeting.start_lead_s, clock_domain())
        self._start_ns = max(start.at_ns + start.reference_offset_ns for start in starts.values())
        told = {agent: asdict(start) for agent, start in starts.items()}
        self._call.say_each("start", told, self._producer_clocks(ready))
        self._started_s = time.monotonic()
        self._enter_stage()
        warm_up_s = self._any.settling.limit_s if self._any.settling else 0.0
        finished = self._gather(
            "finished", self._producers, warm_up_s + self._any.time_limit_s + _DONE_MARGIN_S, self._settling
        )
        if finished is None:
            return self.give_up()
        self._call.say("producers_finished", _furthest(finished.values()))
        if self._gather("done", self._agents, self._any.drain_timeout_s + _DONE_MARGIN_S) is None:
            self.give_up()
        return None

    def _enter_stage(self) -> None:
        """Whether it warms up or measures: a warm-up ends with a count, or when the load is at rest."""
        if self._settling is not None:
            until_s = math.inf if self._settling.slot is None else self._settling.slot * SLOT_S
        else:
            work = self._any.work
            until_s = work.fixed_warm_up_s if isinstance(work, DisturbedWork) else 0.0
        measured_s = time.monotonic() - self._started_s - until_s
        if measured_s >= 0:
            # Since when it is at rest is found afterwards.
            self._stages.enter(Stage.MEASURING, measured_s)
            self._stages.began_only(measured_s)  # the load may have changed again since, and rested
            if self._measuring(self._start_ns + int(until_s * NS_PER_S)):
                self._is_disturbed = True
        else:
            # What was taken for measuring when the load changed again was none.
            was_measuring = self._stages.current is Stage.MEASURING
            self._stages.enter(Stage.WARMING_UP, self._stages.so_far_s if was_measuring else 0.0)

    def _producer_clocks(self, ready: Mapping[str, ReadyAgent]) -> dict[str, dict[int, int]]:
        """By a producer's number; none when all agents share a clock."""
        if len({agent.offset_ns for agent in ready.values()}) == 1:
            return {}
        known = {n: ready[agent] for agent in self._producers for n in self._numbers[agent]}
        return {
            "producer_offsets_ns": {n: agent.offset_ns for n, agent in known.items()},
            "producer_wall_offsets_ns": {n: agent.reading.wall_offset_ns for n, agent in known.items()},
        }

    @property
    def warm_up(self) -> WarmUp | None:
        done = self._done.values()
        if self._settling is None:
            return _warm_up_told_by(done)
        messages = {int(number): count for m in done for number, count in m.warm_up_messages.items()}
        return self._settling.outcome(messages, [slot for m in done for slot in m.measured_slots.values()])

    def manifests(self) -> list[Manifest]:
        return [self._done[agent] for agent in self._agents if agent in self._done]

    def give_up(self) -> None:
        """End the case now; wait a little for what agents still have to say."""
        if self._crew.is_lost or len(self._done) == len(self._agents):
            return
        with suppress(BadInput):
            self._call.say("give_up", True)
        deadline = time.monotonic() + _LAST_WORDS_S
        while len(self._done) < len(self._agents) and time.monotonic() < deadline and not self._crew.is_lost:
            time.sleep(self._meeting.launchers_look_s)
            self._listen()

    def _gather(
        self, word: str, agents: Iterable[str], deadline_s: float, settling: Settling | None = None
    ) -> dict[str, Any] | None:
        """What each of the agents tells; None when one of all agents broke first. `settling`: what else
        there is to look after meanwhile."""
        found: dict[str, Any] = {}
        missing = list(agents)
        begun = time.monotonic()
        while True:
            for agent in list(missing):
                if (told := self._call.told(agent, word)) is not None:
                    found[agent] = told[0]
                    missing.remove(agent)
            self._listen()
            for agent in [agent for agent in missing if self._is_killed(agent)]:
                found[agent] = []  # it has nothing more to say, as was to be
                missing.remove(agent)
            if settling is not None and not self._is_disturbed:
                settling.look()
            if self._started_s:
                self._enter_stage()
            if not missing:
                return found
            self._check_system()
            if any(m.broken or m.agent in missing for m in self._done.values()):
                return None
            if self._crew.is_lost:
                raise AgentDied(self._crew.why_lost())
            waited_s = time.monotonic() - begun
            if waited_s > deadline_s:
                raise AgentDied(f"agent {missing[0]} was not {word} within {deadline_s:g} s")
            # Soon after the last news more is to come; later the agents measure.
            time.sleep(self._meeting.launchers_look_s * (1 if waited_s < 1 else _WAITING_LOOKS))

    def _is_killed(self, agent: str) -> bool:
        return agent in self._done and self._done[agent].outcome == KILLED

    def _check_system(self) -> None:
        if (now_s := time.monotonic()) - self._looked_s > _SYSTEM_LOOK_S:
            self._looked_s = now_s
            if (why := self._ended()) is not None:
                raise SystemFailed(why)

    def _listen(self) -> None:
        for agent in self._agents:
            if agent not in self._done and (told := self._call.told(agent, "done")) is not None:
                self._done[agent] = Manifest(**told[0])
                tell_done(self._done[agent])


def _warm_up_told_by(manifests: Iterable[Manifest]) -> WarmUp | None:
    """Where an agent led it by itself."""
    told = next((manifest.warm_up for manifest in manifests if manifest.warm_up), None)
    return None if told is None else WarmUp.model_validate(told)


def _ready_agent(told: dict[str, Any]) -> ReadyAgent:
    return ReadyAgent(**{**told, "reading": ClockReading(**told["reading"])})


def _furthest(ends: Iterable[list[tuple[int, int, int]]]) -> list[tuple[int, int, int]]:
    """Of what several producers know of a partition's end, the most; as JSON has it."""
    most: dict[tuple[int, int], int] = {}
    for topic, partition, end in chain.from_iterable(ends):
        most[topic, partition] = max(end, most.get((topic, partition), 0))
    return [(topic, partition, end) for (topic, partition), end in most.items()]
