"""What one Spark task does: it leads one agent process through case after case."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.diary import KILLED, Manifest, write_manifest
from streamgauge.core.environment import host_name
from streamgauge.core.errors import BadInput, Refused
from streamgauge.core.run_dir import RunDir
from streamgauge.core.scratch import ScratchFolder
from streamgauge.core.steady_state import SLOT_NS
from streamgauge.launch.child_process import ChildProcess
from streamgauge.launch.clock_watch import ClockWatch
from streamgauge.launch.meeting import MEASURE, Call, Meeting, kill_word
from streamgauge.recording.recovery import recover, rows_before
from streamgauge.spec.fault import DisturbedWork

KEPT_PREFIX = "streamgauge-kept-"
_WORDS = ("start", "producers_finished")
"""What the launcher says to agents, in this order."""
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
        self._start_ns: int | None = None
        self._may_write = not run.is_everywhere
        """Known of a folder of the launcher's; of any other once it has been tried."""

    def serve(self) -> None:
        """Until there are no more cases."""
        # Importing takes longer than most things: it is done by the time of the first case.
        if self._why_refused() is None:
            self._child = self._start_process(self._run, self._agent)
        try:
            while (called := self._meeting.next_call(self._agent)) is not None:
                call, told = called
                if told is not None:
                    assignment = Assignment.model_validate(told)
                    self._take_part(call, assignment.model_copy(update={"environment": self._environment}))
        finally:
            if self._child is not None:
                self._child.close()

    def _take_part(self, call: Call, assignment: Assignment) -> None:
        if (why := self._why_refused()) is not None:
            refused = Manifest(self._agent, assignment.case, "failed", why, Refused.__name__, host_name())
            call.tell(self._agent, "done", asdict(refused))
            return
        child = self._child
        if child is None or not child.is_alive:
            child = self._child = self._start_process(self._run, self._agent)
        with self._kept(assignment) as kept:
            child.assign(kept)
            manifest = self._lead(child, call, kept)
        if self._clock is not None:
            self._clock.finish(assignment)
        call.tell(self._agent, "done", manifest)

    def _why_refused(self) -> str | None:
        """Whether this host may write where its agent's events go: better known before the load."""
        if self._may_write:
            return None
        trial = self._run.trial(self._agent)
        try:
            self._run.write_text(trial, "")
            self._run.remove(trial)
        except (BadInput, OSError) as error:
            return f"cannot write to the run folder: {error}"
        self._may_write = True
        return None

    @contextmanager
    def _kept(self, assignment: Assignment) -> Iterator[Assignment]:
        """Where agents are killed on purpose, what one has recorded is in files of ours."""
        work = assignment.work
        faults = work.faults if isinstance(work, DisturbedWork) else ()
        if self._agent not in [fault.killed_agent for fault in faults]:
            yield assignment
            return
        folder = ScratchFolder(KEPT_PREFIX, Path(tempfile.gettempdir()))
        try:
            yield assignment.model_copy(update={"kept": str(folder.path)})
        finally:
            folder.remove()

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
                    content = {**call.hear_own("start", self._agent), **content}
                    self._start_ns = content["at_ns"]
                    look_s *= _MEASURING_LOOKS
                child.say({unsaid.pop(0): content})
            elif assignment.settling and (said := call.hear(MEASURE)) not in (None, measured):
                measured = said
                child.say({MEASURE: said})
            elif call.hear("give_up") is not None:
                return self._give_up(child, assignment)
            elif assignment.kept is not None and call.hear(kill_word(self._agent)) is not None:
                return self._kill(child, assignment, measured)

    def _introduce(self, reading: dict[str, Any]) -> dict[str, Any]:
        """A clock reading, with whose clock it is and how that stands to the launcher's."""
        about = {"reading": reading, "hostname": host_name()}
        if self._clock is None:
            return about
        offset = self._clock.begin(reading)
        return {**about, "offset_ns": offset.offset_ns, "error_ns": offset.error_ns}

    def _kill(self, child: ChildProcess, assignment: Assignment, measured: Any) -> dict[str, Any]:
        """With nothing said to it: a fault of the case. What it had recorded is written for it."""
        child.kill()
        self._child = None
        assert assignment.kept is not None
        name, case = self._agent, assignment.case
        counts = recover(Path(assignment.kept), self._run, case, name)
        manifest = Manifest(name, case, KILLED, f"{name} was killed on purpose", counts=counts)
        if assignment.settling and measured is not None and self._start_ns is not None:
            slot = int(measured["slot"])
            begun_ns = self._start_ns + slot * SLOT_NS
            warm_ups = rows_before(self._run, case, name, begun_ns)
            manifest.warm_up_messages = {str(number): count for number, count in warm_ups.items()}
            manifest.measured_slots = {str(number): slot for number in warm_ups}
        write_manifest(assignment, manifest)
        return asdict(manifest)

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
        with suppress(BadInput):  # the launcher is told all the same, by a disk that may not be full
            write_manifest(assignment, manifest)
        return asdict(manifest)
