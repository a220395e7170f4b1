"""The other end of an agent's pipe, inside a Spark task.

Every agent has a process of its own: Spark reuses its Python processes, and some client libraries
cannot be started twice in one. The process takes case after case.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import IO, Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.forked_process import ForkedProcess, forked_agent
from streamgauge.agents.piped_process import PipedProcess
from streamgauge.core.errors import AgentDied
from streamgauge.core.run_dir import RunDir


class ChildProcess(PipedProcess):
    """An agent process."""

    def __init__(self, run: RunDir, agent: str) -> None:
        # Elsewhere it goes where Spark keeps what its tasks print.
        log = run.local(run.log(agent)) if run.is_local else None
        super().__init__("streamgauge.agents.process", f"agent {agent}", log)

    def _start(self, module: str, stderr: IO[bytes] | None) -> subprocess.Popen[str] | ForkedProcess:
        """Forked where that can be done: it costs next to nothing, in CPU and in memory."""
        return forked_agent(stderr) or super()._start(module, stderr)

    def assign(self, assignment: Assignment) -> None:
        """Begin a case; its answers are `ready`, `finished` (producers) and `done`."""
        self.say({"assignment": json.loads(assignment.model_dump_json(by_alias=True))})

    def wait_for(self, answer: str, deadline_s: float) -> Any:
        """What comes with the next answer of this kind; AgentDied when the agent ends before."""
        end = time.monotonic() + deadline_s
        while (message := self.answer(end - time.monotonic())) is not None:
            if answer in message:
                return message[answer]
            if "died" in message or "done" in message:
                raise AgentDied(message.get("died") or str(message["done"]["reason"]))
        raise AgentDied(f"{self.name} was not {answer} within {deadline_s:g} s")
