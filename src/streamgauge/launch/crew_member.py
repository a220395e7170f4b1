"""What one Spark task does: it leads one agent process through case after case."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import Manifest, write_manifest
from streamgauge.core.environment import host_name
from streamgauge.core.run_dir import RunDir
from streamgauge.launch.child_process import ChildProcess
from streamgauge.launch.clock_watch import ClockWatch
from streamgauge.launch.meeting import MEASURE, Call, Meeting

_WORDS = ("start", "producers_finished")
"""What the launcher says to agents, in this order."""
EVERYONE = "*"
"""Beside what the start is for each agent: what all are told alike."""
_MEASURING_LOOKS = 5
"""While it measures, the launcher's words are looked for that much less often."""
_END_DEADLINE_S = 5.0
"""How long an agent has to keep what it recorded when a case is given up."""


class CrewMember:
    """One agent by name, in a process that is replaced only when it broke or was given up."""

    def __init__(
        self,
        run: RunDir,
        agent: str,
        meeting: Meeting,
        environment: dict[str, str],
        clock: ClockWatch | None = None,
        start_process: Callable[[RunDir, str], ChildProcess] = ChildProcess,
    ) -> None:
        """`environment`: the target's secrets, which no file may hold."""
        self._run, self._agent, self._meeting, self._environment = run, agent, meeting, environment
        self._clock, self._start_process = clock, start_process
        self._child: ChildProcess | None = None

    def serve(self) -> None:
        """Until there are no more cases."""
        # Importing takes longer than most things: it is done by the time of the first case.
        self._child = self._start_process(self._run, self._agent)
        try:
            while (called := self._meeting.next_call()) is not None:
                call, assignments = called
                if self._agent in assignments:
                    assignment = Assignment.model_validate(assignments[self._agent])
                    self._take_part(call, assignment.model_copy(update={"environment": self._environment}))
        finally:
            if self._child is not None:
                self._child.close()

    def _take_part(self, call: Call, assignment: Assignment) -> None:
        child = self._child
        if child is None or not child.is_alive:
            child = self._child = self._start_process(self._run, self._agent)
        child.assign(assignment)
        manifest = self._lead(child, call, assignment)
        if self._clock is not None:
            self._clock.finish(assignment)
        call.tell(self._agent, "done", manifest)

    def _lead(self, child: ChildProcess, call: Call, assignment: Assignment) -> dict[str, Any]:
        """Carry answers and words to and fro until the agent is done, died or was given up."""
        unsaid, look_s, measured = list(_WORDS), self._meeting.look_s, None
        while True:
            message = child.answer(look_s)
            if message is not None:
                if "done" in message or "died" in message:
                    return self._ended(message, assignment)
                for word, content in message.items():
                    told = self._introduce(content) if word == "ready" else content
                    call.tell(self._agent, word, told)
                continue
            if unsaid and (content := call.hear(unsaid[0])) is not None:
                if unsaid[0] == "start":
                    content = {**content[self._agent], **content.get(EVERYONE, {})}
                    look_s *= _MEASURING_LOOKS
                child.say({unsaid.pop(0): content})
            elif assignment.settling and (said := call.hear(MEASURE)) not in (None, measured):
                measured = said
                child.say({MEASURE: said})
            elif call.hear("give_up") is not None:
                return self._give_up(child, assignment)

    def _introduce(self, reading: dict[str, Any]) -> dict[str, Any]:
        """A clock reading, with whose clock it is and how that stands to the launcher's."""
        about = {"reading": reading, "hostname": host_name()}
        if self._clock is None:
            return about
        offset = self._clock.begin(reading)
        return {**about, "offset_ns": offset.offset_ns, "error_ns": offset.error_ns}

    def _give_up(self, child: ChildProcess, assignment: Assignment) -> dict[str, Any]:
        child.end_input()
        self._child = None
        deadline = time.monotonic() + _END_DEADLINE_S
        while (message := child.answer(deadline - time.monotonic())) is not None:
            if "done" in message or "died" in message:
                child.close()
                return self._ended(message, assignment)
        child.kill()
        reason = f"agent {self._agent} did not end within {_END_DEADLINE_S:g} s when it was given up"
        return self._ended({"died": reason}, assignment)

    def _ended(self, message: dict[str, Any], assignment: Assignment) -> dict[str, Any]:
        if "done" in message:
            done: dict[str, Any] = message["done"]
            if done["outcome"] in ("died", "failed") and self._child is not None:
                # It ends by itself; the next case gets a process that nothing has gone wrong in.
                self._child.close()
                self._child = None
            return done
        self._child = None
        path = self._run.manifest(assignment.case, self._agent)
        if self._run.has(path):  # it died after it had written everything, or while it told why
            written: dict[str, Any] = self._run.read_json(path)
            return {**written, "outcome": "died", "reason": written.get("reason") or message["died"]}
        manifest = Manifest(self._agent, assignment.case, "died", message["died"])
        write_manifest(assignment, manifest)
        return asdict(manifest)
