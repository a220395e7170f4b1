from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    OFFSET_STORED,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from streamgauge.gateway.connector import positions
from streamgauge.gateway.connector.positions import Place, Positions

from .fakes import Message

A, B = Place("t", 0), Place("t", 1)


@dataclass
class Broker:
    """What a consumer is told of offsets."""

    committed_: dict[Place, int] = field(default_factory=dict)
    ends: dict[Place, int] = field(default_factory=dict)
    down: int = 0
    """So many questions are not answered."""

    def committed(self, places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        self._answer()
        return [
            TopicPartition(
                p.topic, p.partition, self.committed_.get(Place(p.topic, p.partition), OFFSET_INVALID)
            )
            for p in places
        ]

    def get_watermark_offsets(self, place: TopicPartition, timeout: float) -> tuple[int, int]:
        self._answer()
        return (0, self.ends[Place(place.topic, place.partition)])

    def _answer(self) -> None:
        if self.down > 0:
            self.down -= 1
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))


def message(offset: int, partition: int = 0) -> Message:
    return Message(topic_="t", partition_=partition, offset_=offset)


def test_from_latest_begins_at_the_end_as_a_number() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 2})
    assert found.starts(Broker(ends={A: 5, B: 7}), [A, B]) == {A: 5, B: 7}
    # Kafka goes and comes back with more records: the end is another one, our start is not.
    assert found.starts(Broker(ends={A: 50, B: 70}), [A, B]) == {A: 5, B: 7}


def test_from_earliest_begins_at_the_beginning() -> None:
    found = Positions(from_earliest=True)
    found.begin({"t": 1})
    assert found.starts(Broker(ends={A: 5}), [A]) == {A: OFFSET_BEGINNING}


def test_what_the_group_committed_goes_before_what_is_configured() -> None:
    for earliest in (True, False):
        found = Positions(from_earliest=earliest)
        found.begin({"t": 1})
        assert found.starts(Broker({A: 3}, {A: 5}), [A]) == {A: 3}


def test_after_joining_anew_it_goes_on_behind_what_was_handed_over() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 2})
    broker = Broker(ends={A: 5, B: 5})
    found.starts(broker, [A, B])
    found.handed_over([message(5), message(6), message(5, 1)])
    assert found.starts(broker, [A, B]) == {A: 7, B: 6}
    # Another member of the group was further meanwhile.
    broker.committed_ = {A: 20}
    assert found.starts(broker, [A, B]) == {A: 20, B: 6}


def test_partitions_and_topics_that_came_up_later_are_read_whole() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 1})
    new = Place("new", 0)
    assert found.starts(Broker(ends={A: 5, B: 5, new: 5}), [A, B, new]) == {
        A: 5,
        B: OFFSET_BEGINNING,
        new: OFFSET_BEGINNING,
    }


def test_only_what_was_published_is_committed_and_each_offset_once() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 2})
    found.starts(Broker(ends={A: 5, B: 9}), [A, B])
    assert found.to_commit() == {A: 5, B: 9}
    found.handed_over([message(5), message(6)])
    assert found.to_commit() == {}
    found.published(message(5))
    assert found.to_commit() == {A: 6}
    assert found.to_commit() == {}


def test_the_next_consumption_goes_on_behind_what_was_published() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 1})
    found.starts(Broker(ends={A: 5}), [A])
    found.handed_over([message(5), message(6)])
    found.published(message(5))
    found.begin({"t": 1, "other": 1})
    assert found.starts(Broker(ends={A: 99}), [A]) == {A: 6}
    # What is new is so since the first consumption began.
    assert found.starts(Broker(), [Place("other", 0)]) == {Place("other", 0): OFFSET_BEGINNING}


def test_a_broker_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "_PAUSE_S", 0.0)
    found = Positions(from_earliest=False)
    found.begin({"t": 1})
    assert found.starts(Broker(ends={A: 5}, down=3), [A]) == {A: 5}


def test_after_the_deadline_kafka_itself_may_choose(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(positions, "_DEADLINE_S", 0.0)
    monkeypatch.setattr(positions, "_PAUSE_S", 0.0)
    found = Positions(from_earliest=False)
    found.begin({"t": 1})
    starts = found.starts(Broker(ends={A: 5}, down=10), [A])
    assert starts == {A: OFFSET_STORED}
    assert "Kafka does not tell" in caplog.text
    assert found.to_commit() == {}


def test_latest_is_where_it_ended_before_the_group_was_joined() -> None:
    """Joining takes seconds: what comes meanwhile has come after the subscription, and must be read."""
    found = Positions(from_earliest=False)
    found.begin({"t": 2, "other": 1})
    found.note_ends(Broker(ends={A: 5, B: 7}), ["t"])
    assert found.starts(Broker(ends={A: 55, B: 7}), [A, B]) == {A: 5, B: 7}
    assert found.to_commit() == {A: 5, B: 7}


def test_an_end_that_was_not_told_before_joining_is_asked_for_again() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 2})
    found.note_ends(Broker(ends={A: 5, B: 7}, down=1), ["t"])
    assert found.starts(Broker(ends={A: 55, B: 77}), [A, B]) == {A: 55, B: 77}


def test_what_is_committed_goes_before_an_end_that_was_noted() -> None:
    found = Positions(from_earliest=False)
    found.begin({"t": 1})
    found.note_ends(Broker(ends={A: 5}), ["t"])
    assert found.starts(Broker({A: 3}, {A: 9}), [A]) == {A: 3}


def test_from_earliest_no_end_is_asked_for() -> None:
    found = Positions(from_earliest=True)
    found.begin({"t": 1})
    found.note_ends(Broker(), ["t"])
    assert found.starts(Broker(), [A]) == {A: OFFSET_BEGINNING}


@pytest.mark.parametrize("from_earliest", [False, True])
def test_what_came_while_nobody_was_subscribed_may_be_passed_over(from_earliest: bool) -> None:
    found = Positions(from_earliest=from_earliest, reads_unwatched=False)
    found.begin({"t": 1})
    found.note_ends(Broker(ends={A: 5}), ["t"])
    first = found.starts(Broker(ends={A: 5}), [A])
    assert first == {A: OFFSET_BEGINNING if from_earliest else 5}
    found.handed_over([message(5)])
    found.published(message(5))
    assert found.to_commit() == {A: 6}
    # The last subscriber left; 94 records came; one subscribes, and ten more come while the group is joined.
    found.begin({"t": 1, "new": 1})
    broker, new = Broker({A: 6}, {A: 100, Place("new", 0): 8}), Place("new", 0)
    found.note_ends(broker, ["t", "new"])
    broker.ends = {A: 110, new: 9}
    assert found.starts(broker, [A, new]) == {A: 100, new: 8}
    assert found.to_commit() == {A: 100, new: 8}
    # Joining anew within the same consumption goes on where it was.
    found.handed_over([message(100)])
    broker.ends = {A: 200}
    assert found.starts(broker, [A]) == {A: 101}


def test_without_an_end_nothing_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "_DEADLINE_S", 0.0)
    monkeypatch.setattr(positions, "_PAUSE_S", 0.0)
    found = Positions(from_earliest=False, reads_unwatched=False)
    found.begin({"t": 1})
    found.starts(Broker(ends={A: 5}), [A])
    found.begin({"t": 1})
    broker = Broker({A: 6}, {A: 100})
    monkeypatch.setattr(broker, "get_watermark_offsets", Broker(down=10).get_watermark_offsets)
    assert found.starts(broker, [A]) == {A: 6}
