"""Engine `jvm` for Kafka: whole loops around kafka-clients in Java, one call each. See `engine`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jpype
import numpy as np
from jpype.types import JArray, JByte

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import (
    Bursts,
    Consumed,
    Engine,
    EngineConsumer,
    EngineProducer,
    LoadedValues,
    Produced,
    RoundTrips,
)
from streamgauge.drivers.kafka.driver import ClientSettings, KafkaDriver
from streamgauge.drivers.kafka.java.client import (
    INTEGER_KEYS,
    INTEGER_KEYS_BACK,
    OWN_CONSUMER,
    OWN_PRODUCER,
    JavaClient,
    made,
    triples,
)

_NS_PER_S = 1e9


class JavaValues(LoadedValues):
    def __init__(self, values: Sequence[bytes]) -> None:
        if not values:
            raise BadInput("at least one value is needed")
        self.array = JArray(JByte, 2)([JArray(JByte)(value) for value in values])

    def __len__(self) -> int:
        return len(self.array)


class JavaProduceLoop(JavaClient, EngineProducer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions, *, count_calls: bool) -> None:
        super().__init__(settings, "producer", count_calls=count_calls)
        self._who, self._client_settings = f"producer {options.number}", settings
        kind = jpype.JClass("streamgauge.kafka.ProduceLoop")
        self.loop = made(lambda: kind(self.config, list(options.topics)), self._who, settings)
        self.opened(self.loop.close)
        try:
            made(self.loop.connect, self._who, settings)
        except BaseException:
            self.close()
            raise
        self.begin_counts()

    def produce(
        self,
        values: LoadedValues,
        count: int,
        *,
        deadline_s: float,
        topic: int = 0,
        first_ordinal: int = 0,
        bursts: Bursts | None = None,
    ) -> Produced:
        length, interval_ns = (0, 0) if bursts is None else (bursts.length, round(bursts.interval_ms * 1e6))
        array, timeout_ns = _array(values), round(deadline_s * _NS_PER_S)
        loop = self.loop.produce(topic, array, first_ordinal, count, length, interval_ns, timeout_ns)
        elapsed, paused, acked, failed = (int(number) for number in loop[:])
        self.crossings += 2
        return Produced(elapsed, paused, acked, failed, self._first_error() if failed else None)

    def _first_error(self) -> str:
        self.crossings += 1
        return str(self.loop.firstError())


class JavaConsumeLoop(JavaClient, EngineConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions, *, count_calls: bool) -> None:
        super().__init__(settings, "consumer", count_calls=count_calls)
        self.who, self.client_settings = f"consumer {options.number}", settings
        kind = jpype.JClass("streamgauge.kafka.ConsumeLoop")
        self.loop = made(lambda: kind(self.config, list(options.topics)), self.who, settings)
        self.opened(self.loop.close)
        self.begin_counts()

    def consume(
        self,
        start: Mapping[tuple[int, int], int],
        expected: int,
        *,
        deadline_s: float,
        check: LoadedValues | None = None,
    ) -> Consumed:
        places, values = triples(start), None if check is None else _array(check)
        timeout_ns = round(deadline_s * _NS_PER_S)
        numbers = made(
            lambda: self.loop.consume(places, expected, timeout_ns, values), self.who, self.client_settings
        )
        self.crossings += 3
        elapsed, received, wrong, repeated = (int(number) for number in numbers[:])
        return Consumed(elapsed, received, wrong, repeated)


class KafkaJavaEngine(Engine):
    def __init__(self, driver: KafkaDriver, *, count_calls: bool) -> None:
        self._driver, self._count_calls = driver, count_calls

    def load(self, values: Sequence[bytes]) -> LoadedValues:
        return JavaValues(values)

    def producer(self, options: ProducerOptions) -> EngineProducer:
        _need_ordinals(options)
        settings = self._driver.producer_settings(options, {**OWN_PRODUCER, **INTEGER_KEYS})
        return JavaProduceLoop(settings, options, count_calls=self._count_calls)

    def consumer(self, options: ConsumerOptions) -> EngineConsumer:
        _need_ordinals(options)
        if options.partitions or options.group is not None:
            raise BadInput("a consumer of the engine jvm is made without partitions and without a group")
        settings = self._driver.consumer_settings(options, {**OWN_CONSUMER, **INTEGER_KEYS_BACK})
        return JavaConsumeLoop(settings, options, count_calls=self._count_calls)

    def round_trips(
        self,
        producer: EngineProducer,
        consumer: EngineConsumer,
        values: LoadedValues,
        count: int,
        *,
        deadline_s: float,
        start: Mapping[tuple[int, int], int],
        topic: int = 0,
        first_ordinal: int = 0,
    ) -> RoundTrips:
        assert isinstance(producer, JavaProduceLoop)
        assert isinstance(consumer, JavaConsumeLoop)
        places, timeout_ns = triples(start), round(deadline_s * _NS_PER_S)
        arguments = (producer.loop, topic, _array(values), first_ordinal, count, places, timeout_ns)
        trips = made(lambda: consumer.loop.roundTrips(*arguments), consumer.who, consumer.client_settings)
        consumer.crossings += 3
        trip_ns = np.array(trips[:], np.int64)
        return RoundTrips(trip_ns, count - len(trip_ns))


def _array(values: LoadedValues) -> Any:
    assert isinstance(values, JavaValues)
    return values.array


def _need_ordinals(options: ProducerOptions | ConsumerOptions) -> None:
    if options.carrier != "ordinal":
        raise BadInput(
            f"the engine jvm sends ordinals as keys; carrier must be ordinal, not {options.carrier}"
        )
