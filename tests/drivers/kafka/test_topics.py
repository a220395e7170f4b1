"""Who leads a partition, asked while brokers come and go."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.kafka import topics
from streamgauge.drivers.kafka.topics import KafkaTopics


class Admin:
    """Answers with these leaders, one after the other; None: whom it asked is gone."""

    def __init__(self, *leaders: int | None) -> None:
        self._leaders = list(leaders)

    def list_topics(self, timeout: float) -> Any:
        leader = self._leaders.pop(0) if len(self._leaders) > 1 else self._leaders[0]
        if leader is None:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        found = SimpleNamespace(leader=leader, replicas=[1, 2, 3], isrs=[2, 3])
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions={0: found})})

    def poll(self, timeout: float) -> int:
        return 0


def asked(*leaders: int | None) -> KafkaTopics:
    made = KafkaTopics({"bootstrap.servers": "127.0.0.1:1"})
    made.__dict__["_admin"] = Admin(*leaders)
    return made


def test_a_broker_that_goes_while_it_is_asked_is_not_the_end() -> None:
    state = asked(None, -1, None, 2).partition_state("t", 0)
    assert (state.leader, state.in_sync) == ("broker-2", ("broker-2", "broker-3"))


@pytest.mark.parametrize(("leader", "words"), [(None, "did not answer"), (-1, "has no leader after")])
def test_it_is_said_what_there_was_none_of(
    leader: int | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "_TOPIC_DEADLINE_S", 0.2)
    with pytest.raises(Unreachable, match=words):
        asked(leader).partition_state("t", 0)


def test_who_is_asked_in_vain_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that stands still keeps its connections, and librdkafka went on asking it."""
    monkeypatch.setattr(topics, "_SILENT_S", 0.05)
    found = asked(None)
    monkeypatch.setattr(found, "_new_admin", lambda: Admin(2))
    assert found.partition_state("t", 0).leader == "broker-2"
