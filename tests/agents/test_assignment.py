from __future__ import annotations

import pytest

from streamgauge.agents.assignment import Assignment

from .conftest import Assign


def test_an_assignment_travels_as_json(assign: Assign) -> None:
    steps = [{"rate": "1k/s", "for": "2s"}]
    assignment = assign("consumer-0", messages=None, rate=steps).model_copy(
        update={"start_offsets": ((0, 0, 17),)}
    )
    assert Assignment.model_validate_json(assignment.model_dump_json(by_alias=True)) == assignment


@pytest.mark.parametrize(("subscription", "group"), [("assigned", None), ("group", "streamgauge-run-001")])
def test_a_group_is_named_by_run_and_case(assign: Assign, subscription: str, group: str | None) -> None:
    assert assign(subscription=subscription).group == group
