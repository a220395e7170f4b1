from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.analysis.compression import compression_ratios
from streamgauge.analysis.verdicts import verdicts
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

from .test_case_figures import figures


def plan_of(run: RunDir, **load: Any) -> Plan:
    target = {"name": "t", "driver": "simulated"}
    content = {"targets": [target], "load": {"messages": 10, "producers": 2, **load}}
    return make_plan(parse(Workload, content, "w"), run.id)


@pytest.mark.parametrize(("codec", "expected"), [("zstd", {"001": 3.5}), ("none", {})])
def test_the_first_producer_that_tells_stands_for_its_case(
    tmp_path: Path, codec: str, expected: dict[str, float]
) -> None:
    run = RunDir.create(str(tmp_path), "r")
    plan = plan_of(run, compression=codec)
    assert compression_ratios(run, plan) == {}
    run.write_json(run.manifest("001", "producer-0"), {"agent": "producer-0", "case": "001"})
    run.write_json(run.manifest("001", "producer-1"), {"compression_ratio": 3.5})
    assert compression_ratios(run, plan) == expected


@pytest.mark.parametrize(("asked", "figures_said"), [(0.0, {}), (4.0, {"asked_ratio": 4.0})])
def test_what_a_sample_compresses_by_is_a_note_beside_what_was_asked_for(
    asked: float, figures_said: dict[str, float]
) -> None:
    row = figures() | {"sample_ratio": 3.456, "compression": "lz4", "asked_ratio": asked}
    _, causes = verdicts([row])
    said = [each for each in causes if each["code"] == "compressed"]
    assert {each["verdict"] for each in said} == {"note"}
    assert {each["text"] for each in said} == {"lz4"}
    assert {each["figure"]: each["value"] for each in said} == {"sample_ratio": 3.46} | figures_said
