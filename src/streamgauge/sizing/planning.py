"""From what a load takes to hosts.

A process of an agent is kept to a share of one core, since one thread of it sends or receives; a broker
uses as many as its host has. No host is planned to be full: what is full is late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from streamgauge.core.errors import BadInput
from streamgauge.core.units import parse_bits_per_s
from streamgauge.sizing.costs import Costs
from streamgauge.sizing.fitting import NOTHING, Estimate
from streamgauge.spec.model import Bytes, SpecModel

BITS = 8
_MOST_PROCESSES = 100_000


class Host(SpecModel):
    """One like all others."""

    cores: Annotated[int, Field(ge=1)] = 8
    memory_bytes: Annotated[Bytes, Field(ge=1)] = 32 * 1024**3
    network_bits_per_s: Annotated[float, BeforeValidator(parse_bits_per_s), Field(gt=0)] = 10e9
    fill: Annotated[float, Field(gt=0, le=1)] = 0.7
    """How much of it is used at the most."""


class Need(SpecModel):
    """What all processes of one role take together."""

    role: str
    processes: int
    cores: Estimate
    memory_bytes: Estimate
    sent_bits_per_s: Estimate = NOTHING
    received_bits_per_s: Estimate = NOTHING
    disk_bytes_per_s: Estimate = NOTHING


class Part(Need):
    """… and the hosts for it."""

    hosts: int
    most_hosts: int
    """With all costs at the upper end of their intervals."""


class SizePlan(SpecModel):
    wanted: str
    host: Host
    parts: tuple[Part, ...]
    hosts: int
    most_hosts: int
    cores: Estimate
    network_bits_per_s: Estimate
    """Sent by all hosts together, which is what all of them receive."""
    costs_of: str
    """The machine on which costs were measured."""
    notes: tuple[str, ...] = ()


def fewest_processes(cores_of: Callable[[int], Estimate], each_cores: float, role: str) -> int:
    """That keep to what one may use; `cores_of`: what so many take together."""
    count = 1
    while (wanted := math.ceil(cores_of(count).value / each_cores)) > count:
        count = wanted
        if count > _MOST_PROCESSES:
            raise BadInput(
                f"size: this would take more than {_MOST_PROCESSES:,} processes ({role}); ask for less, or "
                "look whether an idle one costs that much in the table of costs"
            )
    return count


def size_plan(wanted: str, needs: Sequence[Need], host: Host, costs: Costs, notes: Sequence[str]) -> SizePlan:
    parts = tuple(_part(need, host) for need in needs)
    cores, sent = NOTHING, NOTHING
    for part in parts:
        cores, sent = cores + part.cores, sent + part.sent_bits_per_s
    return SizePlan(
        wanted=wanted,
        host=host,
        parts=parts,
        hosts=sum(part.hosts for part in parts),
        most_hosts=sum(part.most_hosts for part in parts),
        cores=cores,
        network_bits_per_s=sent,
        costs_of=f"{costs.cpu}, {costs.cores} cores, measured {costs.measured_on}",
        notes=tuple(notes),
    )


def _part(need: Need, host: Host) -> Part:
    def hosts(end: Callable[[Estimate], float]) -> int:
        shares = (
            end(need.cores) / host.cores,
            end(need.memory_bytes) / host.memory_bytes,
            end(need.sent_bits_per_s) / host.network_bits_per_s,
            end(need.received_bits_per_s) / host.network_bits_per_s,
        )
        # Brokers are members of one cluster: two of them on one host would be one when it fails.
        return max(need.processes if need.role == "broker" else 1, math.ceil(max(shares) / host.fill))

    count = hosts(lambda estimate: estimate.value)
    own = dict(need) | ({"processes": count} if need.role == "broker" else {})
    return Part(
        **own,
        hosts=count,
        most_hosts=hosts(lambda estimate: estimate.high),
    )
