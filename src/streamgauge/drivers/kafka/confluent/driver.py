"""Kafka through confluent-kafka, that is librdkafka.

Batches are handed over with one call, and read in one piece (`batches`) or, as objects, a
field of all at a time: per message, Python runs no loop of its own but the delivery callback. The
two halves are `producer` and `consumer`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import confluent_kafka
from pydantic import Field

from streamgauge.core.errors import NotInstalled
from streamgauge.drivers.contract import (
    Consumer,
    ConsumerOptions,
    PacedProducer,
    Producer,
    ProducerOptions,
)
from streamgauge.drivers.kafka.confluent.consumer import RdkafkaConsumer
from streamgauge.drivers.kafka.confluent.native_producer import native_producer
from streamgauge.drivers.kafka.confluent.producer import RdkafkaProducer
from streamgauge.drivers.kafka.driver import KafkaDriver
from streamgauge.drivers.kafka.settings import KafkaSettings
from streamgauge.drivers.swarm import Heard, HeardRows, Swarm, SwarmDriver, SwarmOptions
from streamgauge.payload.making import Ingredients

_TOPIC_NEWS_MS = 10_000
"""The topics have leaders before a case begins, so one that no broker knows for so long is gone; librdkafka
would go on asking for 30 s."""


class Settings(KafkaSettings):
    read: Literal["batches", "objects"] = "batches"
    """Batches: beneath confluent-kafka's message objects, where that can be done (see batches);
    objects: as an application does, to measure the library and not the cluster."""
    spin_us: int = Field(default=50, ge=0, le=1000)
    """The compiled loop sleeps until so long before a message is due, and looks at the clock from then on, as
    long as that takes at most 5% of a core: who sleeps is woken some ten µs late. 0: it only sleeps."""
    send: Literal["native", "objects"] = "native"
    """Native: made, paced and sent in a compiled loop, where that can be done (see native_producer); objects:
    made in Python, and sent as an application does."""


class KafkaConfluent(KafkaDriver, SwarmDriver):
    name = "kafka_confluent"
    library = "librdkafka"
    capabilities = replace(
        KafkaDriver.capabilities, placed=True, unreported=True, transactional=True, commits=True
    )
    settings_model = Settings
    bootstrap_name = "bootstrap.servers"
    # Without it librdkafka pauses for up to a second whenever it has read 64 MB ahead.
    fair_client = {"consumer_client": {"fetch.queue.backoff.ms": 2}}

    def library_version(self) -> dict[str, Any]:
        return {"librdkafka": confluent_kafka.libversion()[0]}

    def swarm(self, options: SwarmOptions, heard: Heard, heard_rows: HeardRows | None = None) -> Swarm:
        try:
            # Only a swarm parses JSON, with a library that comes with the gateway.
            from streamgauge.drivers.kafka.confluent.swarm import KafkaSwarm
        except ImportError as error:
            raise NotInstalled(
                f"clients of a fan-out cannot be made: {error}; install what they need: "
                "pip install 'streamgauge[gateway]'"
            ) from error
        own: dict[str, Any] = {
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "topic.metadata.propagation.max.ms": _TOPIC_NEWS_MS,
            # Thousands of clients read ahead little each, or they would need all memory.
            "queued.min.messages": 100,
            "queued.max.messages.kbytes": 1024,
            "fetch.queue.backoff.ms": 2,
        }
        return KafkaSwarm(options, heard, self.consumer_settings(None, own).native)

    def sender_settings(self) -> dict[str, Any]:
        options = ProducerOptions(0, (), "value", "all", "none")
        return self.producer_settings(options, {"linger.ms": 0}).native

    def producer(self, options: ProducerOptions) -> Producer:
        own: dict[str, Any] = {}
        if options.transactional_id is not None:
            own["transactional.id"] = options.transactional_id
        return RdkafkaProducer(self.producer_settings(options, own), options)

    def paced_producer(self, options: ProducerOptions, messages: Ingredients) -> PacedProducer | None:
        if isinstance(self.settings, Settings) and self.settings.send == "objects":
            return None
        spin_us = self.settings.spin_us if isinstance(self.settings, Settings) else 0
        return native_producer(self.producer_settings(options, {}), options, messages, spin_us)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        # Where nothing is ever committed, no offsets need be kept for it.
        own: dict[str, Any] = {
            "enable.auto.commit": options.commits,
            "enable.auto.offset.store": options.commits,
        }
        own["topic.metadata.propagation.max.ms"] = _TOPIC_NEWS_MS
        own["group.id"] = options.group or f"streamgauge-{options.number}"
        if options.transactions:
            # The end of a partition is then not where its last message is: markers of transactions follow.
            own |= {"isolation.level": "read_committed", "enable.partition.eof": True}
        as_objects = isinstance(self.settings, Settings) and self.settings.read == "objects"
        settings = self.consumer_settings(options, own)
        return RdkafkaConsumer(settings, options, objects=as_objects or options.transactions)
