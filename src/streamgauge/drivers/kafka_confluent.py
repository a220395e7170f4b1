"""Kafka through confluent-kafka, that is librdkafka.

Batches are handed over with one call, and read in one piece (`rdkafka_batches`) or, as objects, a
field of all at a time: per message, Python runs no loop of its own but the delivery callback. The
two halves are `rdkafka_producer` and `rdkafka_consumer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import confluent_kafka

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import (
    Capabilities,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
)
from streamgauge.drivers.kafka_topics import KafkaTopics
from streamgauge.drivers.rdkafka_consumer import RdkafkaConsumer
from streamgauge.drivers.rdkafka_producer import RdkafkaProducer
from streamgauge.spec.model import SpecModel
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Topics


class Settings(SpecModel):
    bootstrap: str | None = None
    """host:port[,host:port …]; else the system that the run starts, or `cluster up`."""
    read: Literal["batches", "objects"] = "batches"
    """Batches: beneath confluent-kafka's message objects, where that can be done (see rdkafka_batches);
    objects: as an application does, to measure the library and not the cluster."""


class KafkaConfluent(Driver):
    name = "kafka_confluent"
    capabilities = Capabilities(durable=True, ordered=True, acked=True, record_headers=True)
    settings_model = Settings

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        settings = Settings.model_validate(target.settings)
        bootstrap = settings.bootstrap or endpoints.get("bootstrap") or target.client.get("bootstrap.servers")
        if not bootstrap:
            raise BadInput(
                f"target {target.name}: settings.bootstrap: no Kafka address, and no system to start"
            )
        self._target, self._settings = target, settings
        self._client: dict[str, Any] = {**target.client, "bootstrap.servers": bootstrap}
        self._topics = KafkaTopics(self._client)

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {"librdkafka": confluent_kafka.libversion()[0], **self._topics.check_reachable(deadline_s)}

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        return self._topics.prepare(topics, names)

    def remove_topics(self, names: list[str]) -> None:
        self._topics.remove(names)

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return self._topics.end_offsets(topics, partitions)

    def producer(self, options: ProducerOptions) -> Producer:
        client = {"acks": options.acks, "compression.type": options.compression, **self._client}
        return RdkafkaProducer({**client, **self._target.producer_client}, options)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        # Nothing is ever committed, so no offsets need be kept for it.
        own: dict[str, Any] = {"enable.auto.commit": False, "enable.auto.offset.store": False}
        own["group.id"] = options.group or f"streamgauge-{options.number}"
        client = {**own, **self._client, **self._target.consumer_client}
        return RdkafkaConsumer(client, options, objects=self._settings.read == "objects")
