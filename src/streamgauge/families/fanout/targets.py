"""What a fan-out goes through, unless a file says so: clients of a gateway, or of Kafka itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from streamgauge.flags.shipped_targets import shipped_target
from streamgauge.spec.target import Target


def target_of(way: str) -> dict[str, Any]:
    return {"name": way, **shipped_target(__file__, "gateway" if way == "gateway" else "kafka")}


def is_of_a_gateway(target: Target) -> bool:
    """Its clients are those of a gateway; all others read from Kafka."""
    return target.driver == _gateway_driver()


@cache
def _gateway_driver() -> str:
    return str(shipped_target(__file__, "gateway")["driver"])
