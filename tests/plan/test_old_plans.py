"""Plans as 0.1 wrote them; those of the golden runs are such."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.plan.old_plans import up_to_date
from streamgauge.plan.plan_file import Plan

GOLDEN = Path(__file__).parents[1] / "golden"


def stored(name: str) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads((GOLDEN / name / "plan.json").read_text())
    return plan


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("e2e", "e2e"),
        ("sweep", "sweep"),
        ("limit", "limit"),
        ("compare", "compare"),
        ("transports", "transports"),
        ("fanout", "fanout"),
    ],
)
def test_a_plan_of_each_family_is_written_anew(name: str, kind: str) -> None:
    old = stored(name)
    assert "kind" not in old, "the stored run is to be one of 0.1"
    plan = Plan.model_validate(up_to_date(old))
    assert plan.kind == kind
    assert {case.kind for case in plan.cases} == {kind}
    assert [case.id for case in plan.cases] == [case["id"] for case in old["cases"]]
    assert [[task.agent for task in case.agents] for case in plan.cases] == [
        [f"{task['kind']}-{task['number']}" for task in case["agents"]] for case in old["cases"]
    ]
    written = plan.model_dump(mode="json", by_alias=True)
    assert up_to_date(written) == written
    assert Plan.model_validate(written) == plan


def test_a_case_has_its_deadlines_and_topics_from_the_load_that_all_had() -> None:
    old = stored("fanout")
    [first, *_] = Plan.model_validate(up_to_date(old)).cases
    load = old["cases"][0]["load"]
    assert first.drain_timeout_s == load["drain_timeout"]
    assert first.time_limit_s == load["time_limit"]
    assert first.topic_settings.name == load["topics"]["name"]
    assert first.series


def test_the_target_that_others_are_read_beside_measures_itself() -> None:
    cases = Plan.model_validate(up_to_date(stored("transports"))).cases
    assert {case.target.name for case in cases if case.measures_itself} == {"harness"}
    assert {case.target.name for case in cases if not case.measures_itself} == {"kafka", "aeron-ipc"}


def test_both_sides_of_a_comparison_take_part() -> None:
    [case] = Plan.model_validate(up_to_date(stored("compare"))).cases
    assert len(case.targets) == 2


@pytest.mark.parametrize("content", [[], "text", {}, {"cases": 5}, None])
def test_what_is_no_plan_is_left_to_those_who_say_so(content: object) -> None:
    assert up_to_date(content) is content


def test_a_run_whose_plan_holds_a_secret_of_before_stays_readable() -> None:
    old = stored("e2e_kafka")
    client = {"ssl.keystore.key": "-----BEGIN", "basic.auth.user.info": "me:sesame", "client.id": "mine"}
    old["cases"][0]["target"]["client"] = client
    [case] = Plan.model_validate(up_to_date(old)).cases
    assert case.target.client["client.id"] == "mine"
    assert "sesame" not in str(case.target)
    assert "BEGIN" not in str(case.target)
