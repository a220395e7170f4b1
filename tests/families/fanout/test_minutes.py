from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from streamgauge.core.latency_block import latency_block
from streamgauge.core.run_dir import RunDir
from streamgauge.families.fanout.minutes import MinuteBlocks
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

CASE = make_plan(
    Workload.model_validate(
        {"targets": [{"name": "gateway", "driver": "push_websocket"}], "fanout": {"clients": [1200]}}
    ),
    "run",
).cases[0]
SWARMS = [agent.agent for agent in CASE.agents if agent.kind == "swarm"]


def tell(run: RunDir, agent: str, counts: dict[int, int], case: str = CASE.id) -> None:
    path = run.local(run.live(agent))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"case": case, "latency_ms": counts}))


def followed(tmp_path: Path) -> tuple[RunDir, MinuteBlocks, io.StringIO]:
    run, printed = RunDir.create(str(tmp_path), "fanout"), io.StringIO()
    return run, MinuteBlocks(run, CASE, Console(file=printed, width=120)), printed


def test_every_minute_all_samples_so_far(tmp_path: Path) -> None:
    run, blocks, printed = followed(tmp_path)
    tell(run, SWARMS[0], {5: 30, 9: 10})
    blocks.look(1000.0)
    blocks.look(1059.0)
    assert printed.getvalue() == ""
    blocks.look(1060.5)
    assert printed.getvalue().splitlines() == [
        "",
        "gateway, 1,200 clients, so far:",
        *latency_block({5: 30, 9: 10}, 60.5),
    ]
    tell(run, SWARMS[0], {5: 60, 9: 10, 200: 1})
    blocks.look(1061.0)
    blocks.look(1120.0)
    assert printed.getvalue().endswith("\n".join(latency_block({5: 60, 9: 10, 200: 1}, 120.0)) + "\n")


def test_minutes_begin_with_the_first_sample(tmp_path: Path) -> None:
    run, blocks, printed = followed(tmp_path)
    blocks.look(0.0)
    blocks.look(100.0)
    tell(run, SWARMS[0], {1: 1})
    blocks.look(110.0)
    blocks.look(169.0)
    assert printed.getvalue() == ""
    blocks.look(170.0)
    assert "Number of samples: 1" in printed.getvalue()


def test_what_another_case_told_or_half_wrote_does_not_count(tmp_path: Path) -> None:
    run, blocks, _ = followed(tmp_path)
    tell(run, SWARMS[0], {5: 30}, case="other")
    assert not blocks.counts()
    run.local(run.live(SWARMS[0])).write_text('{"case": "0')
    assert not blocks.counts()
