"""A topic that a command names and that is there already: it is used as it is."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.kafka.driver import KafkaDriver
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.spec.secrets import environment_of, fill_in
from streamgauge.spec.target import Target
from streamgauge.systems import local_cluster

_DEADLINE_S = 5.0


def partitions_there(target: dict[str, Any], topic: str) -> int | None:
    """How many partitions the topic has; None when it is not there, or nobody can be asked.

    A cluster that does not answer is none of our business here: whoever runs the workload says so.
    """
    chosen = Target.model_validate(target)
    endpoints: dict[str, str] = {}
    if chosen.system is not None:
        if (running := local_cluster.find()) is None:
            return None
        endpoints["bootstrap"] = running[0]
    if not issubclass(driver_class(chosen), KafkaDriver):
        return None
    driver = open_driver(fill_in(chosen, environment_of(chosen)), endpoints)
    assert isinstance(driver, KafkaDriver)
    try:
        with suppress(Unreachable):
            found = driver.found_topics(_DEADLINE_S).get(topic)
            return None if found is None else found.partitions
        return None
    finally:
        driver.close()
