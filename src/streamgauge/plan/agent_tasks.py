"""Cases → agent tasks: what one barrier task of Spark does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from streamgauge.core.errors import BadInput
from streamgauge.spec.model import SpecModel
from streamgauge.spec.workload import Load


class AgentTask(SpecModel):
    """One producer or consumer of one case; or the referee, who alone runs a comparison."""

    kind: Literal["producer", "consumer", "referee"]
    number: int
    """Its place among its kind, from 0."""
    messages: int | None = None
    """Producer: how many to count, after the warm-up; None: until the time is up."""
    warm_up_messages: int = 0
    partitions: tuple[tuple[int, int], ...] = ()
    """Consumer, when assigned: (topic, partition) pairs."""

    @property
    def agent(self) -> str:
        return f"{self.kind}-{self.number}"


def deal_out(load: Load) -> Iterator[AgentTask]:
    """Producers first. Counts differ by at most one; partitions go round."""
    for number in range(load.producers):
        total = load.total_messages
        yield AgentTask(
            kind="producer",
            number=number,
            messages=None if total is None else _share(total, number, load.producers),
            warm_up_messages=_share(load.warm_up_messages, number, load.producers),
        )
    places = [(t, p) for t in range(load.topics.count) for p in range(load.topics.partitions)]
    if load.consumers > len(places):
        raise BadInput(
            f"load.consumers: {load.consumers} consumers for {len(places)} partitions: some would "
            f"get nothing; allowed: at most {len(places)}, or raise topics.partitions"
        )
    for number in range(load.consumers):
        yield AgentTask(kind="consumer", number=number, partitions=tuple(places[number :: load.consumers]))


def _share(total: int, number: int, of: int) -> int:
    return total // of + (number < total % of)
