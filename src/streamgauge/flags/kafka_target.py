"""The target of a command for Kafka: a file, an address, or an embedded cluster."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.flags.embedded import embedded_system
from streamgauge.flags.shipped_targets import shipped_target
from streamgauge.spec.loading import load_target

_FETCH_WAIT_MS = 100
_MOST_FETCH_WAIT_MS = 1000


def kafka_target(
    address: str | None, file: Path | None, brokers: int | None, *, name: str = "kafka", consumers: int = 1
) -> dict[str, Any]:
    """From the file, else Kafka at the address, else an embedded one; for so many consumers at the most."""
    if brokers is not None and (address is not None or file is not None):
        raise BadInput(
            "--brokers is for the embedded Kafka; leave it out when an address or a target is given"
        )
    if file is not None:
        target = load_target(file)
        if address is not None:
            target = target.model_copy(update={"settings": {**target.settings, "bootstrap": address}})
        return target.model_dump(mode="json", exclude_defaults=True)
    # A fetch that finds nothing is answered after this: hundreds of consumers would keep the broker busy.
    wait_ms = min(max(_FETCH_WAIT_MS, 2 * consumers), _MOST_FETCH_WAIT_MS)
    made = {"name": name, **shipped_target(__file__, "kafka")}
    made["consumer_client"]["fetch.wait.max.ms"] = wait_ms
    if address is not None:
        made["settings"] = {"bootstrap": address}
    else:
        made["system"] = embedded_system(brokers)
    return made


def name_of(address: str | None) -> str:
    """A short name for the cluster at an address: the first part of its first host's name."""
    if address is None:
        return "kafka"
    host = address.partition(",")[0].rpartition(":")[0].strip("[] ") or "kafka"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.partition(".")[0]
    return host.replace(":", "-").strip("-")
