"""What an embedded broker will keep is foretold, and a run that its disk has no room for is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.guardian import temporary_root
from streamgauge.launch.log_room import log_bytes, log_room_notes, refuse_without_room
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.load import Load
from streamgauge.spec.workload import Workload

SOAK = {"duration": "12h", "rate": "20k/s", "message": {"size": 200}}
SOAK_BYTES = 12 * 3600 * 20_000 * 216


def cases(system: dict[str, Any] | None, **load: Any) -> list[Case]:
    target: dict[str, Any] = {"name": "t", "driver": "kafka_confluent"}
    target |= {"settings": {"bootstrap": "127.0.0.1:9"}} if system is None else {"system": system}
    content = {"kind": "e2e", "targets": [target], "load": {**SOAK, **load}}
    return list(make_plan(Workload.model_validate(content), "run").cases)


def free(amount: int) -> Callable[[Path], int]:
    def known(folder: Path) -> int:
        assert folder == temporary_root()
        return amount

    return known


@pytest.mark.parametrize(
    ("load", "wanted"),
    [
        ({}, SOAK_BYTES),
        ({"topics": {"replicas": 3}}, 3 * SOAK_BYTES),
        ({"warm_up_messages": 20_000 * 3600}, SOAK_BYTES * 13 // 12),
        ({"message": {"size": 10, "headers": {"a": "bc"}}}, 12 * 3600 * 20_000 * (10 + 16 + 3 + 32)),
        ({"topics": {"partitions": 2, "config": {"retention.bytes": "1000"}}}, 2 * (1000 + 1024**3)),
        ({"topics": {"config": {"retention.bytes": "1000", "segment.bytes": "500"}}}, 1500),
        ({"topics": {"config": {"retention.bytes": "-1"}}}, SOAK_BYTES),
        ({"topics": {"config": {"retention.ms": "60000"}}}, None),
    ],
)
def test_every_message_is_kept_by_every_replica_unless_the_topic_is_bounded(
    load: dict[str, Any], wanted: int | None
) -> None:
    assert log_bytes(Load.model_validate({**SOAK, **load})) == wanted


def test_without_room_it_is_refused_with_figures_and_what_to_do() -> None:
    planned = cases({})
    with pytest.raises(
        BadInput, match=r"case 001: the broker keeps every message: about .* are free; make it"
    ):
        refuse_without_room(planned, free(SOAK_BYTES - 1))
    refuse_without_room(planned, free(SOAK_BYTES))
    # Where a codec is at work nobody knows; it is said, and tried.
    compressed = cases({}, compression="lz4")
    refuse_without_room(compressed, free(10))
    [note] = log_room_notes(compressed, free(10))
    assert note.startswith("case 001: the broker keeps every message")


def test_what_takes_nearly_all_is_said_and_what_takes_less_is_not() -> None:
    assert len(list(log_room_notes(cases({}), free(SOAK_BYTES * 11 // 10)))) == 1
    assert list(log_room_notes(cases({}), free(2 * SOAK_BYTES))) == []


def test_of_a_cluster_that_is_not_ours_and_of_one_with_limits_of_its_own_nobody_knows() -> None:
    for system in (None, {"properties": {"log.retention.bytes": "1000"}}):
        refuse_without_room(cases(system), free(0))
        assert list(log_room_notes(cases(system), free(0))) == []
