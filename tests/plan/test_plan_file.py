from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.plan_file import make_plan, read_plan, write_plan
from streamgauge.spec.workload import Workload

Make = Callable[..., Workload]


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir.create(str(tmp_path), "plan")


@pytest.mark.parametrize(
    ("sweep", "load"),
    [
        ({}, {}),
        ({"message.size": [100, "1KiB", {"lines_of": "/f"}]}, {"warm_up_messages": 10, "acks": 1}),
        ({"producers": [1, 3]}, {"topics": {"count": 2, "partitions": 4}, "consumers": 3}),
        ({"rate": [[{"rate": "1k/s", "for": "2s"}]]}, {"messages": None, "rate": [{"rate": 5, "for": 5}]}),
        ({}, {"messages": None, "duration": "5s"}),
    ],
)
def test_a_plan_written_is_read_back_the_same(
    run: RunDir, workload: Make, sweep: dict[str, Any], load: dict[str, Any]
) -> None:
    plan = make_plan(workload(sweep, **load), run.id)
    write_plan(plan, run)
    assert read_plan(run) == plan


def test_slots_are_those_of_the_largest_case(workload: Make) -> None:
    plan = make_plan(workload({"producers": [1, 5, 2]}, consumers=1), "run")
    assert plan.slots_needed == 6


def test_a_plan_keeps_references_to_secrets_not_the_secrets(
    run: RunDir, workload: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SG_PASSWORD", "hunter2")
    content = workload().model_dump(mode="json", by_alias=True)
    content["targets"][0]["client"] = {"sasl.password": "${SG_PASSWORD}"}
    write_plan(make_plan(Workload.model_validate(content), run.id), run)
    text = run.read_text(run.plan)
    assert "${SG_PASSWORD}" in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda text: text[:-20], "not valid JSON"),
        (lambda text: "", "not valid JSON"),
        (lambda text: "[]", "dictionary"),
        (lambda text: text.replace('"tag"', '"tug"'), r"cases\.0\.tag"),
        (lambda text: text.replace('"producer"', '"janitor"'), r"cases\.0\.agents: .*no role .janitor."),
        (lambda text: json.dumps({**json.loads(text), "extra": 1}), "extra"),
    ],
)
def test_a_corrupt_plan_is_one_line_that_names_file_and_field(
    run: RunDir, workload: Make, spoil: Callable[[str], str], fault: str
) -> None:
    write_plan(make_plan(workload(), run.id), run)
    run.write_text(run.plan, spoil(run.read_text(run.plan)))
    with pytest.raises(CorruptRun, match=fault) as caught:
        read_plan(run)
    assert str(caught.value).startswith(run.url("plan.json"))
    assert "\n" not in str(caught.value)


def test_a_run_without_a_plan_says_so(run: RunDir) -> None:
    with pytest.raises(CorruptRun, match=r"plan\.json: missing"):
        read_plan(run)
