"""A run in progress that is a folder alone: its agents are the test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamgauge.core.live_file import RESOURCES
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.plan.plan_file import make_plan, write_plan
from tests.report.sample_run import make_workload

NAME = "20260102-030405-end-to-end-ab12"
BEGUN_S = 1767323045.0


class LiveRun:
    def __init__(self, folder: Path, **load: Any) -> None:
        self.run = RunDir(str(folder / NAME))
        self.plan = make_plan(make_workload(**load), NAME)
        write_plan(self.plan, self.run)
        self.status = RunStatus(cases={"001": CaseStatus("running")})
        write_status(self.run, self.status)

    def tell(self, agent: str, counts: str, second: int, messages: int, **more: Any) -> None:
        told = {
            "case": "001",
            "messages": messages,
            "counts": counts,
            "tick": second,
            "at_s": BEGUN_S + second,
            "cpu_s": second * 0.25,
            "rss_bytes": 1 << 20,
            "buckets": [],
        }
        self.write(agent, {**told, **more})

    def tell_resources(self, second: int, cpu_s: float) -> None:
        line = {"source": "broker-0", "kind": "broker", "cpu_s": cpu_s, "rss_bytes": 1 << 30}
        machine = {"source": "machine", "kind": "machine", "cpu_s": 2 * cpu_s, "rss_bytes": 1 << 31}
        told = {"case": "001", "at_s": BEGUN_S + second, "cores": 8, "processes": [line, machine]}
        self.write(RESOURCES, told)

    def write(self, name: str, content: object) -> None:
        self.run.write_text(self.run.live(name), json.dumps(content))

    def end(self) -> None:
        self.status.status = "partial"
        self.status.reason = "interrupted"
        write_status(self.run, self.status)
