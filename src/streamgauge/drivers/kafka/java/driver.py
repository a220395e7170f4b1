"""Kafka through Apache's own client, kafka-clients, in this process by way of JNI.

There are two ways across (`crossing`): `record`, plain calls of Kafka's classes, one record at a time, and
`batch`, a small bridge that moves whole batches with one call. Java starts with the first producer or
consumer, so that a process which only makes topics needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from streamgauge.drivers import transports_java
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Producer, ProducerOptions
from streamgauge.drivers.engine import JvmDriver, TimedConsumer, TimedProducer, Values
from streamgauge.drivers.kafka.driver import KafkaDriver
from streamgauge.drivers.kafka.java.batches import BatchConsumer, BatchProducer
from streamgauge.drivers.kafka.java.client import (
    INTEGER_KEYS,
    INTEGER_KEYS_BACK,
    LOCK,
    OWN_CONSUMER,
    OWN_PRODUCER,
    checked_config,
    made,
    start_java,
    told_config,
)
from streamgauge.drivers.kafka.java.records import RecordConsumer, RecordProducer
from streamgauge.drivers.kafka.java.timed_loops import JavaConsumeLoop, JavaProduceLoop, java_values
from streamgauge.drivers.kafka.settings import KafkaSettings
from streamgauge.jvm.jars import locked_version
from streamgauge.spec.reach import JavaOptions


class Settings(KafkaSettings):
    crossing: Literal["record", "batch"] = "batch"
    java_options: JavaOptions = ()
    """Of the Java inside an agent, e.g. -Xmx4g; they come behind ours."""
    count_jni_calls: bool = False
    """Count every JNI function that is called; it takes time, so not where time is measured."""


class KafkaJava(KafkaDriver, JvmDriver):
    name = "kafka_java"
    library = "kafka-clients"
    settings_model = Settings
    bootstrap_name = "bootstrap.servers"
    timed_loops = True
    settings: Settings

    def library_version(self) -> dict[str, Any]:
        return {"kafka-clients": locked_version(LOCK, "kafka-clients")}

    def producer(self, options: ProducerOptions) -> Producer:
        start_java(self.settings.java_options)
        settings = self.producer_settings(options, OWN_PRODUCER)
        kind = BatchProducer if self.settings.crossing == "batch" else RecordProducer
        return kind(settings, options, count_calls=self.settings.count_jni_calls)

    def consumer(self, options: ConsumerOptions) -> Consumer:
        start_java(self.settings.java_options)
        settings = self.consumer_settings(options, {**OWN_CONSUMER, "group.id": options.group})
        kind = BatchConsumer if self.settings.crossing == "batch" else RecordConsumer
        return kind(settings, options, count_calls=self.settings.count_jni_calls)

    def start_java(self) -> None:
        transports_java.start_java(self.settings.java_options)

    @property
    def alert_ns(self) -> int:
        """A client that takes a millisecond gains nothing by it, and its broker needs the core."""
        return 20_000

    def loop_facts(self, options: ProducerOptions | ConsumerOptions) -> dict[str, Any]:
        if isinstance(options, ProducerOptions):
            return told_config(self.producer_settings(options, OWN_PRODUCER), "producer")
        return told_config(self.consumer_settings(options, OWN_CONSUMER), "consumer")

    def outlet(self, options: ProducerOptions, fates: Any) -> Any:
        settings = self.producer_settings(options, OWN_PRODUCER)
        config = checked_config(settings, "producer")
        outlet = transports_java.java_class("KafkaOutlet")
        return made(lambda: outlet(config, options.topics[0], fates), f"producer {options.number}", settings)

    def inlet(self, options: ConsumerOptions) -> Any:
        settings = self.consumer_settings(options, OWN_CONSUMER)
        config = checked_config(settings, "consumer")
        inlet = transports_java.java_class("KafkaInlet")
        arguments = (config, options.topics[0], 0, options.start.get((0, 0), 0))
        return made(lambda: inlet(*arguments), f"consumer {options.number}", settings)

    def load(self, values: Sequence[bytes]) -> Values:
        start_java(self.settings.java_options)
        return java_values(values)

    def timed_producer(self, options: ProducerOptions) -> TimedProducer:
        start_java(self.settings.java_options)
        settings = self.producer_settings(options, {**OWN_PRODUCER, **INTEGER_KEYS})
        return JavaProduceLoop(settings, options, count_calls=self.settings.count_jni_calls)

    def timed_consumer(self, options: ConsumerOptions) -> TimedConsumer:
        start_java(self.settings.java_options)
        settings = self.consumer_settings(options, {**OWN_CONSUMER, **INTEGER_KEYS_BACK})
        return JavaConsumeLoop(settings, options, count_calls=self.settings.count_jni_calls)
