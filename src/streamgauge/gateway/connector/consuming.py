"""Reading a connection's topics from Kafka, in a thread of its own.

Positions are remembered here, not only in Kafka: when Kafka goes and comes back, the consumer joins its
group anew and would begin at what was committed last, or at the end. It goes on where it was instead.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from streamgauge.gateway.connector.complaints import Complaints
from streamgauge.gateway.connector.positions import Place, Positions
from streamgauge.gateway.connector.topics import TopicSelection

LOGGER = logging.getLogger("streamgauge.gateway")
LIBRDKAFKA_LOGGER = logging.getLogger("streamgauge.librdkafka")

_POLL_S = 0.2
_LIST_FIRST_S, _LIST_MOST_S = 1.0, 8.0
_LOOK_FOR_TOPICS_S = 5.0
_COMMIT_EVERY_S = 5.0
_PREDECESSOR_S = 30.0
_HOPELESS = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }
)


@dataclass(frozen=True)
class Handlers:
    """Called in the consuming thread."""

    hand_over: Callable[[list[Any]], None]
    """A batch of messages; may wait until there is room for it."""
    placed: Callable[[], None]
    """It knows where it begins: all that comes from now on will be handed over."""
    failed: Callable[[str], None]
    """It cannot go on, and has ended. One line."""


class Hopeless(Exception):
    """Trying again will not help."""


class Consumption:
    """One consumer's life, from the first subscription to the last unsubscription."""

    def __init__(
        self,
        name: str,
        client: Mapping[str, Any],
        topics: TopicSelection,
        positions: Positions,
        handlers: Handlers,
        *,
        batch_records: int,
        predecessor: Consumption | None = None,
    ) -> None:
        self.is_placed = not positions.needs_ends
        """Whether it is known where it begins."""
        self._name, self._client, self._topics = name, dict(client), topics
        self._positions, self._handlers, self._batch_records = positions, handlers, batch_records
        self._predecessor = predecessor
        self._stopping = threading.Event()
        self._complaints = Complaints(LOGGER, f"connection {name}")
        self._thread = threading.Thread(target=self._run, name=f"consume-{name}", daemon=True)
        self._subscribed: list[str] = []
        self._last_error: KafkaError | None = None
        self._patience_s = _LIST_FIRST_S

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; does not wait."""
        self._stopping.set()

    def join(self, timeout_s: float) -> bool:
        """Whether it has ended within that time."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def has_joined(self) -> bool:
        """Whether it was in its group, and has offsets to commit and a place to leave."""
        return bool(self._subscribed)

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def _run(self) -> None:
        if self._predecessor is not None:
            # It commits where it was and leaves the group; two members at once would share the partitions.
            self._predecessor.join(_PREDECESSOR_S)
            self._predecessor = None
        consumer = None
        try:
            consumer = confluent_kafka.Consumer(
                {**self._client, "error_cb": self._note_error}, logger=LIBRDKAFKA_LOGGER
            )
            self._consume(consumer)
        except Hopeless as error:
            self._end(str(error))
        except KafkaException as error:
            self._end(f"Kafka client: {error.args[0].str()}")
        except Exception as error:
            LOGGER.exception("connection %s: consuming ended by an error of ours", self._name)
            self._end(f"{type(error).__name__}: {error}")
        finally:
            if consumer is not None:
                consumer.close()

    def _end(self, why: str) -> None:
        if not self.stopping:
            self._stopping.set()
            self._handlers.failed(why)

    def _consume(self, consumer: Any) -> None:
        self._subscribe(consumer, self._first_topics(consumer))
        look_at = time.monotonic() + _LOOK_FOR_TOPICS_S
        commit_at = time.monotonic() + _COMMIT_EVERY_S
        while not self.stopping:
            batch = self._next_batch(consumer)
            if batch:
                self._positions.handed_over(batch)
                self._handlers.hand_over(batch)
            now = time.monotonic()
            if now > commit_at:
                self._commit(consumer)
                commit_at = now + _COMMIT_EVERY_S
            if self._topics.may_grow and now > look_at:
                self._look_for_topics(consumer)
                look_at = time.monotonic() + _LOOK_FOR_TOPICS_S
        self._commit(consumer)

    def _next_batch(self, consumer: Any) -> list[Any]:
        first = consumer.poll(_POLL_S)
        if first is None:
            return []
        batch = [first]
        if self._batch_records > 1:
            batch += consumer.consume(self._batch_records - 1, 0)
        if any(message.error() is not None for message in batch):
            for message in batch:
                if message.error() is not None:
                    self._judge(message.error())
            batch = [message for message in batch if message.error() is None]
        return batch

    def _first_topics(self, consumer: Any) -> list[str]:
        """What is there to read; waits for Kafka as long as somebody is subscribed."""
        while not self.stopping:
            existing = self._partitions_by_topic(consumer)
            if existing is None:
                continue
            self._positions.begin(existing)
            found = self._topics.among(existing)
            if not found and not self._topics.may_grow:
                raise Hopeless(f"there is no topic {self._topics} at {self._client['bootstrap.servers']}")
            if missing := self._topics.missing(existing):
                LOGGER.warning(
                    "connection %s: there is no topic %s; reading %s only",
                    self._name,
                    ", ".join(missing),
                    ", ".join(found),
                )
            self._positions.note_ends(consumer, found)
            self.is_placed = True
            self._handlers.placed()
            return found
        return []

    def _look_for_topics(self, consumer: Any) -> None:
        existing = self._partitions_by_topic(consumer)
        if existing is not None:
            self._subscribe(consumer, self._topics.among(existing))

    def _partitions_by_topic(self, consumer: Any) -> dict[str, int] | None:
        """None when Kafka does not answer; that is complained of, now and then."""
        try:
            listed = consumer.list_topics(timeout=self._patience_s).topics
        except KafkaException as error:
            consumer.poll(0)  # What librdkafka knows of the reason it tells while it is polled.
            known = self._last_error or error.args[0]
            self._judge(known)
            self._complaints.tell("unreachable", f"Kafka does not answer: {known.str()}; trying on")
            # A cluster with very many topics may take its time.
            self._patience_s = min(2 * self._patience_s, _LIST_MOST_S)
            self._stopping.wait(_POLL_S)
            return None
        return {name: len(topic.partitions) for name, topic in listed.items() if topic.error is None}

    def _subscribe(self, consumer: Any, topics: list[str]) -> None:
        if topics and topics != self._subscribed:
            self._subscribed = topics
            consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke)

    def _on_assign(self, consumer: Any, places: list[TopicPartition]) -> None:
        starts = self._positions.starts(consumer, [Place(p.topic, p.partition) for p in places])
        consumer.assign([TopicPartition(p.topic, p.partition, offset) for p, offset in starts.items()])

    def _on_revoke(self, consumer: Any, _: list[TopicPartition]) -> None:
        self._commit(consumer)

    def _commit(self, consumer: Any) -> None:
        offsets = self._positions.to_commit()
        if offsets:
            try:
                consumer.commit(
                    offsets=[TopicPartition(p.topic, p.partition, n) for p, n in offsets.items()],
                    asynchronous=True,
                )
            except KafkaException as error:
                self._complaints.tell("commit", f"offsets cannot be committed: {error.args[0].str()}")

    def _judge(self, error: KafkaError) -> None:
        if error.fatal() or error.code() in _HOPELESS:
            raise Hopeless(f"Kafka refuses: {error.str()}")
        self._complaints.tell(f"kafka {error.code()}", f"Kafka: {error.str()}")

    def _note_error(self, error: KafkaError) -> None:
        """librdkafka tells of broken connections here and goes on trying."""
        self._last_error = error
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._complaints.tell(f"kafka {error.code()}", f"Kafka: {error.str()}")
