"""The Kafka that a command's flags mean, where it is there already: asked before, or beside, any run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamgauge.drivers.kafka.driver import KafkaDriver
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.spec.secrets import environment_of, fill_in
from streamgauge.spec.target import Target
from streamgauge.systems.standing import standing_system


@contextmanager
def kafka_there(target: dict[str, Any]) -> Iterator[KafkaDriver | None]:
    """None: the target is no Kafka, or one that only a run would start."""
    chosen = Target.model_validate(target)
    endpoints: dict[str, str] = {}
    if chosen.system is not None:
        running = standing_system().status()
        if running is not None:
            endpoints = running.endpoints()
    is_there = bool(endpoints) or chosen.system is None
    if not is_there or not issubclass(driver_class(chosen), KafkaDriver):
        yield None
        return
    driver = open_driver(fill_in(chosen, environment_of(chosen)), endpoints)
    assert isinstance(driver, KafkaDriver)
    try:
        yield driver
    finally:
        driver.close()
