"""Cases → agent tasks: what one agent process does in one case."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.core.errors import BadInput
from streamgauge.spec.load import Load
from streamgauge.spec.model import SpecModel


class Stream(SpecModel):
    """What goes through one partition when each has a producer and a consumer of its own."""

    number: int
    """Of the stream among all of the case: its producer and its consumer have it."""
    topic: int
    partition: int
    messages: int | None = None
    """How many to count, after the warm-up; None: until the time is up."""
    warm_up_messages: int = 0


class AgentTask(SpecModel):
    """One process of one case: a producer, a consumer, or in a role of the case's family."""

    kind: str
    """The role: producer, consumer, or as the family calls it."""
    number: int
    """Its place among its kind, from 0."""
    messages: int | None = None
    """Producer: how many to count, after the warm-up; None: until the time is up."""
    warm_up_messages: int = 0
    partitions: tuple[tuple[int, int], ...] = ()
    """Consumer, when assigned: (topic, partition) pairs."""
    share: tuple[int, int] | None = None
    """Of a family's role: the first of the numbered things that it has, and how many they are."""
    streams: tuple[Stream, ...] = ()
    """Those it produces, or consumes, each by itself; empty: it is one producer, or consumer."""
    hostname: str | None = None
    """The follower that it has to be on; None: any."""

    @property
    def agent(self) -> str:
        return f"{self.kind}-{self.number}"

    @property
    def numbers(self) -> tuple[int, ...]:
        """`producer` or `consumer` in the events that it writes."""
        return tuple(stream.number for stream in self.streams) or (self.number,)


def deal_out(load: Load) -> Iterator[AgentTask]:
    """Producers first. Counts differ by at most one; partitions go round, and so do hosts."""
    hosts = {"producer": load.producer_hosts, "consumer": load.consumer_hosts}
    for task in _deal_out_streams(load) if load.streams == "per_partition" else _deal_out_shared(load):
        names = hosts[task.kind]
        yield task.model_copy(update={"hostname": names[task.number % len(names)]}) if names else task


def _deal_out_shared(load: Load) -> Iterator[AgentTask]:
    for number in range(load.producers):
        total = load.total_messages
        yield AgentTask(
            kind="producer",
            number=number,
            messages=None if total is None else _share(total, number, load.producers),
            warm_up_messages=_share(load.total_warm_up_messages, number, load.producers),
        )
    places = [(t, p) for t in range(load.topics.count) for p in range(load.topics.partitions)]
    if load.consumers > len(places):
        raise BadInput(
            f"load.consumers: {load.consumers} consumers for {len(places)} partitions: some would "
            f"get nothing; allowed: at most {len(places)}, or raise topics.partitions"
        )
    for number in range(load.consumers):
        yield AgentTask(kind="consumer", number=number, partitions=tuple(places[number :: load.consumers]))


def _deal_out_streams(load: Load) -> Iterator[AgentTask]:
    """As many processes as asked for, but none without a stream."""
    streams = list(_streams(load))
    producers, consumers = (min(wanted, len(streams)) for wanted in (load.producers, load.consumers))
    for number in range(producers):
        mine = tuple(streams[number::producers])
        counts = [stream.messages for stream in mine if stream.messages is not None]
        yield AgentTask(
            kind="producer",
            number=number,
            messages=sum(counts) if len(counts) == len(mine) else None,
            warm_up_messages=sum(stream.warm_up_messages for stream in mine),
            streams=mine,
        )
    for number in range(consumers):
        mine = tuple(streams[number::consumers])
        places = tuple((stream.topic, stream.partition) for stream in mine)
        yield AgentTask(kind="consumer", number=number, partitions=places, streams=mine)


def _streams(load: Load) -> Iterator[Stream]:
    total, count = load.total_messages, load.partition_count
    for number in range(count):
        topic, partition = divmod(number, load.topics.partitions)
        yield Stream(
            number=number,
            topic=topic,
            partition=partition,
            messages=None if total is None else _share(total, number, count),
            warm_up_messages=_share(load.total_warm_up_messages, number, count),
        )


def _share(total: int, number: int, of: int) -> int:
    return total // of + (number < total % of)
