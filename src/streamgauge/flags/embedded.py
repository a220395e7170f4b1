"""How many brokers the embedded Kafka of a command has."""

from __future__ import annotations

from streamgauge.systems.standing import standing_system


def embedded_brokers(wanted: int | None) -> int:
    """As many as asked for; else as many as the cluster that is up has."""
    if wanted is not None:
        return wanted
    running = standing_system().status()
    return running.brokers if running is not None else 1
