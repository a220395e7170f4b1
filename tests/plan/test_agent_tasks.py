from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamgauge.core.errors import BadInput
from streamgauge.plan.agent_tasks import AgentTask, deal_out
from streamgauge.spec.load import Load, Message
from streamgauge.spec.topics import Topics

from ..core.properties import untimed


def dealt(load: Load) -> tuple[list[AgentTask], list[AgentTask]]:
    tasks = list(deal_out(load))
    producers = [task for task in tasks if task.kind == "producer"]
    consumers = [task for task in tasks if task.kind == "consumer"]
    assert tasks == producers + consumers, "producers come first"
    return producers, consumers


@given(st.integers(1, 20), st.integers(1, 10_000), st.integers(0, 1000))
@untimed
def test_shares_add_up_and_differ_by_one_at_the_most(producers: int, messages: int, warm_up: int) -> None:
    assume(messages >= producers and (warm_up == 0 or warm_up >= producers))
    tasks, _ = dealt(Load(producers=producers, messages=messages, warm_up_messages=warm_up))
    counted = [task.messages for task in tasks if task.messages is not None]
    warm_ups = [task.warm_up_messages for task in tasks]
    assert [task.number for task in tasks] == list(range(producers))
    for shares, total in ((counted, messages), (warm_ups, warm_up)):
        assert len(shares) == producers
        assert sum(shares) == total
        assert max(shares) - min(shares) <= 1


@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 48))
@untimed
def test_every_partition_has_exactly_one_consumer(topics: int, partitions: int, consumers: int) -> None:
    assume(consumers <= topics * partitions)
    _, tasks = dealt(
        Load(messages=1, consumers=consumers, topics=Topics(count=topics, partitions=partitions))
    )
    places = [place for task in tasks for place in task.partitions]
    everywhere = [(t, p) for t in range(topics) for p in range(partitions)]
    assert sorted(places) == (everywhere if consumers else [])
    assert len(tasks) == consumers
    assert all(task.partitions for task in tasks)


def test_more_consumers_than_partitions_are_refused() -> None:
    load = Load(messages=1, consumers=7, topics=Topics(count=2, partitions=3))
    with pytest.raises(BadInput, match=r"^load\.consumers: 7 consumers for 6 partitions.*at most 6"):
        list(deal_out(load))


def test_without_a_count_producers_go_on_until_the_time_is_up() -> None:
    producers, _ = dealt(Load(producers=2, duration=5.0))
    assert [task.messages for task in producers] == [None, None]


def test_an_agent_is_named_by_kind_and_number() -> None:
    assert AgentTask(kind="consumer", number=3).agent == "consumer-3"


@given(st.integers(1, 5), st.integers(1, 12), st.integers(1, 8), st.integers(0, 8), st.integers(1, 9))
@untimed
def test_every_partition_has_one_producer_and_one_consumer_of_its_own(
    topics: int, partitions: int, producers: int, consumers: int, messages: int
) -> None:
    load = Load(
        streams="per_partition",
        producers=producers,
        consumers=consumers,
        stream_size=messages * 64 + 7,
        stream_warm_up_messages=2,
        message=Message(size=64),
        topics=Topics(count=topics, partitions=partitions),
    )
    places = [(t, p) for t in range(topics) for p in range(partitions)]
    for tasks, processes in zip(dealt(load), (producers, consumers), strict=True):
        assert len(tasks) == min(processes, len(places))
        streams = sorted((stream for task in tasks for stream in task.streams), key=lambda s: s.number)
        if processes:
            assert [(stream.topic, stream.partition) for stream in streams] == places
            assert [stream.number for stream in streams] == list(range(len(places)))
        assert {stream.messages for stream in streams} <= {messages}
        assert {stream.warm_up_messages for stream in streams} <= {2}
        shares = [len(task.streams) for task in tasks]
        assert not shares or max(shares) - min(shares) <= 1


def test_the_numbers_of_a_task_are_those_in_its_events() -> None:
    load = Load(streams="per_partition", producers=2, messages=9, topics=Topics(partitions=3))
    producers, consumers = dealt(load)
    assert [task.numbers for task in producers] == [(0, 2), (1,)]
    assert [task.numbers for task in consumers] == [(0, 1, 2)]
    assert consumers[0].partitions == ((0, 0), (0, 1), (0, 2))
    assert [task.messages for task in producers] == [6, 3]
    assert AgentTask(kind="producer", number=4).numbers == (4,)


def test_agents_are_on_the_hosts_that_are_named_in_turn() -> None:
    load = Load(producers=3, messages=9, consumers=1, producer_hosts=("a", "b"), topics=Topics(partitions=3))
    producers, consumers = dealt(load)
    assert [task.hostname for task in producers] == ["a", "b", "a"]
    assert [task.hostname for task in consumers] == [None]
    each = load.model_copy(update={"streams": "per_partition", "consumer_hosts": ("c",)})
    assert [task.hostname for task in deal_out(each)] == ["a", "b", "a", "c"]
