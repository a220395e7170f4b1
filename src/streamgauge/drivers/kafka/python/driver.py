"""Kafka through kafka-python: Python all the way down, with a thread of its own that sends."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import kafka
from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Consumer,
    ConsumerOptions,
    Producer,
    ProducerOptions,
    Received,
    SharedSetting,
)
from streamgauge.drivers.fates import Fates
from streamgauge.drivers.kafka.consumer import KafkaConsumer, SeeksStart
from streamgauge.drivers.kafka.driver import ClientSettings, KafkaDriver
from streamgauge.drivers.kafka.records import received
from streamgauge.drivers.kafka.tokens import Tokens, handed_over
from streamgauge.payload.making import Outgoing

_CONNECT_MS = 15_000
_CLOSE_S = 5.0
_FLUSH_S = 60.0


class KafkaPython(KafkaDriver):
    name = "kafka_python"
    library = "kafka-python"
    bootstrap_name = "bootstrap_servers"

    def library_version(self) -> dict[str, Any]:
        return {"kafka-python": kafka.__version__}

    def producer(self, options: ProducerOptions) -> Producer:
        own: dict[str, Any] = {"bootstrap_timeout_ms": _CONNECT_MS, "allow_auto_create_topics": False}
        own |= handed_over(self.security.tokens, _TokenProvider)
        return _Producer(self.producer_settings(options, own), options)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        own: dict[str, Any] = {"bootstrap_timeout_ms": _CONNECT_MS, "allow_auto_create_topics": False}
        own |= {
            "enable_auto_commit": False,
            "group_id": options.group,
            **handed_over(self.security.tokens, _TokenProvider),
        }
        return _Consumer(self.consumer_settings(options, own), options)


class _TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def token(self) -> str:
        return self._tokens.get()


class _Producer(Producer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions) -> None:
        self._settings, self._topics = settings, options.topics
        self._fates = Fates()
        self._flushing = threading.Thread()
        self._producer = _made(kafka.KafkaProducer, settings, f"producer {options.number}")
        for name in options.topics:
            self._producer.partitions_for(name)

    def send(self, batch: Outgoing, topic: int) -> int:
        count = min(len(batch), self._fates.room(len(batch.values[0])))
        name, first = self._topics[topic], batch.first_sequence
        self._fates.taken(count)
        for row in range(count):
            try:
                future = self._producer.send(
                    name,
                    value=batch.values[row],
                    key=None if batch.keys is None else batch.keys[row],
                    headers=None if batch.headers is None else batch.headers[row],
                )
            except KafkaError as error:
                # Too large, or no metadata in time: the fate of this message, not of those behind it.
                self._fates.failed(first + row, str(error))
            else:
                future.add_callback(partial(self._on_delivery, first + row))
                future.add_errback(partial(self._on_failure, first + row))
        return count

    def _on_delivery(self, sequence: int, metadata: Any) -> None:
        # Without acks from a broker nobody knows an offset.
        offset = metadata.offset if self._producer.config["acks"] else UNKNOWN
        self._fates.delivered((sequence, metadata.partition, offset))

    def _on_failure(self, sequence: int, error: BaseException) -> None:
        self._fates.failed(sequence, str(error))

    def poll(self, timeout_s: float) -> Acks | None:
        return self._fates.take(timeout_s)

    def outstanding(self) -> int:
        return self._fates.outstanding()

    def flush_soon(self) -> None:
        # Its flush waits for everything, so it gets a thread; without lingering there is nothing to hurry.
        if self._producer.config["linger_ms"] > 0 and not self._flushing.is_alive():
            self._flushing = threading.Thread(target=self._flush, name="flush", daemon=True)
            self._flushing.start()

    def _flush(self) -> None:
        with suppress(KafkaError):  # what could not be sent has its own fate
            self._producer.flush(timeout=_FLUSH_S)

    def settings_in_force(self) -> dict[str, Any]:
        return _plain(self._producer.config)

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared(self._producer.config)

    def close(self) -> None:
        self._producer.close(timeout=_CLOSE_S)


class _Consumer(SeeksStart, KafkaConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions) -> None:
        super().__init__(options)
        self._settings = settings
        self._dealing: _Dealing | None = None
        self._consumer = _made(kafka.KafkaConsumer, settings, f"consumer {options.number}")
        self.begin()

    def _subscribe(self) -> None:
        self._dealing = _Dealing(self._seek_dealt)
        self._consumer.subscribe(list(self._options.topics), listener=self._dealing)

    def _assign(self, start: Mapping[tuple[int, int], int]) -> None:
        places = [kafka.TopicPartition(self._options.topics[t], p) for t, p in start]
        self._consumer.assign(places)
        self._seek_start(places)

    def _ends_known(self) -> bool:
        return self._all_answered()

    def _positions(self) -> Iterable[tuple[tuple[int, int], int]]:
        # Each was set by `seek`, so that it is known without asking a broker.
        return [
            (self._number(place), self._consumer.position(place)) for place in self._consumer.assignment()
        ]

    def _fetch(self, timeout_s: float) -> Received | None:
        if self._dealing is not None and self._dealing.under_way:
            # 3.0.12 forgets a rebalance that takes longer than one poll, unless it is reminded of it.
            self._consumer._coordinator.request_rejoin()
        try:
            batches = self._consumer.poll(timeout_ms=timeout_s * 1000)
        except KafkaError as error:
            raise CaseFailed(f"the consumer cannot go on: {error}") from None
        return received(batches.values(), self._options.carrier, self._topic_numbers)

    def settings_in_force(self) -> dict[str, Any]:
        return _plain(self._consumer.config)

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared(self._consumer.config)

    def close(self) -> None:
        self._consumer.close(autocommit=False, timeout_ms=_CLOSE_S * 1000)


class _Dealing(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """What a group deals out is read from where the case begins."""

    def __init__(self, seek: Any) -> None:
        self._seek = seek
        self.under_way = False

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.under_way = True

    def on_partitions_assigned(self, assigned: Any) -> None:
        self._seek(assigned)
        self.under_way = False


def _made(kind: Any, settings: ClientSettings, who: str) -> Any:
    try:
        return kind(**settings.native)
    except (ValueError, TypeError, AssertionError, RuntimeError, KafkaConfigurationError) as error:
        raise BadInput(f"target: client: kafka-python: {error}") from None
    except KafkaError as error:
        raise Unreachable(f"{who}: {settings.native['bootstrap_servers']}: {error}") from None


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """What can be written down; serializers, selectors and the like are no settings of a target."""
    return {name: value for name, value in config.items() if isinstance(value, (str, int, float, bool))}
