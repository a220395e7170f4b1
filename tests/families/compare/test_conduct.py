from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.compare.conduct import check_comparison
from streamgauge.families.compare.workload import CompareWorkload


def compared(*drivers: str, **comparison: Any) -> CompareWorkload:
    targets = [{"name": f"t-{n}", "driver": driver} for n, driver in enumerate(drivers)]
    return CompareWorkload.model_validate({"targets": targets, "comparison": comparison})


@pytest.mark.parametrize(
    ("drivers", "comparison", "fault"),
    [
        (
            ("kafka_java", "kafka_confluent"),
            {"engine": "jvm"},
            "t-1 has no timed loops of the engine jvm, and a loop in the JVM",
        ),
        (
            ("kafka_confluent", "kafka_confluent"),
            {"engine": "jvm"},
            "t-0 and t-1 have no timed loops of the engine jvm",
        ),
        (
            ("kafka_confluent", "kafka_confluent"),
            {"engine": "jvm", "mix_engines": True},
            "have no timed loops of the engine jvm; allowed: python",
        ),
        (("simulated", "kafka_confluent"), {}, "t-0 lives in simulated time"),
        (("simulated", "simulated"), {"round_trip": True}, "has no round trips"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    drivers: tuple[str, str], comparison: dict[str, Any], fault: str
) -> None:
    with pytest.raises(BadInput, match=fault):
        check_comparison(compared(*drivers, **comparison))


@pytest.mark.parametrize(
    ("drivers", "comparison"),
    [
        (("kafka_java", "kafka_java"), {"engine": "jvm"}),
        (("kafka_java", "kafka_confluent"), {"engine": "jvm", "mix_engines": True}),
        (("kafka_java", "kafka_confluent"), {}),
        (("simulated", "simulated"), {}),
    ],
)
def test_what_can_is_not(drivers: tuple[str, str], comparison: dict[str, Any]) -> None:
    check_comparison(compared(*drivers, **comparison))
