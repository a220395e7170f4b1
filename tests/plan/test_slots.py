from __future__ import annotations

import os

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.plan.slots import check_slots, default_master, local_slots


@pytest.mark.parametrize(
    ("master", "slots"),
    [
        ("local", 1),
        ("local[4]", 4),
        ("local[4,2]", 4),
        ("local[4, 2]", 4),
        ("local[*]", os.cpu_count()),
        ("local[*,3]", os.cpu_count()),
        ("spark://host:7077", None),
        ("yarn", None),
        ("local-cluster[2,1,1024]", None),
        ("k8s://https://host", None),
    ],
)
def test_slots_of_a_master(master: str, slots: int | None) -> None:
    assert local_slots(master) == slots


@pytest.mark.parametrize("needed", [1, 2, 64])
def test_the_default_master_has_a_slot_for_every_agent(needed: int) -> None:
    assert local_slots(default_master(needed)) == needed


def test_too_few_slots_are_refused_with_both_numbers_and_a_way_out() -> None:
    with pytest.raises(BadInput) as caught:
        check_slots(7, 4, "local[4]")
    message = str(caught.value)
    assert message.startswith("--master local[4]: 7 agents need 7 Spark slots at once, it has 4")
    assert "local[7]" in message
    assert "\n" not in message


def test_as_many_slots_as_agents_are_enough() -> None:
    check_slots(7, 7, "yarn")
    with pytest.raises(BadInput):
        check_slots(7, 6, "yarn")
