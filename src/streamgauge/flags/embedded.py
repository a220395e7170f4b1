"""The embedded Kafka of a command: how many brokers it has, and what it takes to get in."""

from __future__ import annotations

from typing import Any

from streamgauge.systems.standing import standing_system


def embedded_system(brokers: int | None) -> dict[str, Any]:
    """With so many brokers; as the cluster that is up where that has as many, or none were asked for."""
    running = standing_system().status()
    if running is None or (brokers is not None and running.brokers != brokers):
        return {"brokers": brokers or 1}
    return {"brokers": running.brokers, **running.locks}
