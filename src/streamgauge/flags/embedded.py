"""How many brokers the embedded Kafka of a command has."""

from __future__ import annotations

from streamgauge.systems import local_cluster


def embedded_brokers(wanted: int | None) -> int:
    """As many as asked for; else as many as the cluster that is up has."""
    if wanted is not None:
        return wanted
    running = local_cluster.find()
    return running[1] if running is not None else 1
