"""What librdkafka tells a consumer that is no record, and what of it ends a case.

One rule for whoever reads: as objects, in batches, or in a swarm. A message's error knows no better:
confluent-kafka marks none of them as retriable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from confluent_kafka import KafkaError, Message

from streamgauge.core.errors import CaseFailed

PASSING = frozenset(
    {
        # Brokers that come and go: librdkafka connects again by itself.
        KafkaError._TRANSPORT,
        KafkaError._RESOLVE,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._WAIT_COORD,
        KafkaError._NODE_UPDATE,
        KafkaError._RETRY,
        KafkaError._UNKNOWN_BROKER,
        # What Kafka's protocol calls retriable, as far as it may concern who reads.
        KafkaError.INVALID_MSG,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_CONTROLLER,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.FETCH_SESSION_ID_NOT_FOUND,
        KafkaError.INVALID_FETCH_SESSION_EPOCH,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.PREFERRED_LEADER_NOT_AVAILABLE,
        KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        KafkaError.LISTENER_NOT_FOUND,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
        KafkaError.THROTTLING_QUOTA_EXCEEDED,
    }
)
_GONE = frozenset(
    {
        # Retriable by the protocol, too: but librdkafka tells them only when it has asked in vain for
        # as long as news of a topic may take to reach all brokers.
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)


@dataclass(frozen=True)
class Trouble:
    """One thing it said."""

    code: int
    said: str
    topic: str | None = None
    partition: int = -1
    offset: int = -1

    @classmethod
    def of_message(cls, message: Message, error: KafkaError) -> Self:
        return cls(error.code(), error.str(), message.topic(), message.partition(), message.offset())

    @classmethod
    def of_client(cls, error: KafkaError) -> Self:
        """As the client's error callback has it."""
        return cls(error.code(), error.str())

    @property
    def is_end_of_partition(self) -> bool:
        return bool(self.code == KafkaError._PARTITION_EOF)

    @property
    def passes(self) -> bool:
        return self.is_end_of_partition or self.code in PASSING

    def check(self) -> None:
        """CaseFailed unless it passes."""
        if self.passes:
            return
        # librdkafka's words name the topic where the trouble comes without one.
        about = f"{self.topic}: " if self.topic and self.topic not in self.said else ""
        if self.code in _GONE:
            raise CaseFailed(
                f"a topic is gone that was there when the case began: {about}{self.said}; "
                "was it deleted by somebody else?"
            )
        raise CaseFailed(f"the consumer cannot go on: {about}{self.said}")
