"""Timed loops of Kafka's engine `jvm`: loops around kafka-clients in Java, one call each. See `engine`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jpype
import numpy as np
from jpype.types import JArray, JByte

from streamgauge.core.errors import BadInput
from streamgauge.drivers.contract import ConsumerOptions, ProducerOptions
from streamgauge.drivers.engine import (
    Consumed,
    Produced,
    RoundTrips,
    TimedConsumer,
    TimedProducer,
    Values,
    Work,
)
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.java.client import JavaClient, made, triples

_NS_PER_S = 1e9
_FIRST_TOPIC = 0


def java_values(values: Sequence[bytes]) -> Values:
    if not values:
        raise BadInput("at least one value is needed")
    return JArray(JByte, 2)([JArray(JByte)(value) for value in values])


class JavaProduceLoop(JavaClient, TimedProducer):
    def __init__(self, settings: ClientSettings, options: ProducerOptions, *, count_calls: bool) -> None:
        _need_ordinals(options)
        super().__init__(settings, "producer", count_calls=count_calls)
        who, kind = f"producer {options.number}", jpype.JClass("streamgauge.kafka.ProduceLoop")
        self.loop = made(lambda: kind(self.config, list(options.topics)), who, settings)
        self.opened(self.loop.close)
        try:
            made(self.loop.connect, who, settings)
        except BaseException:
            self.close()
            raise
        self.begin_counts()

    def produce(self, work: Work) -> Produced:
        bursts = work.bursts
        length, interval_ns = (0, 0) if bursts is None else (bursts.length, round(bursts.interval_ms * 1e6))
        first, timeout_ns = work.first_ordinal, round(work.deadline_s * _NS_PER_S)
        loop = self.loop.produce(
            _FIRST_TOPIC, work.values, first, work.count, length, interval_ns, timeout_ns
        )
        elapsed, paused, acked, failed = (int(number) for number in loop[:])
        self.crossings += 2
        return Produced(elapsed, paused, acked, failed, self._first_error() if failed else None)

    def _first_error(self) -> str:
        self.crossings += 1
        return str(self.loop.firstError())


class JavaConsumeLoop(JavaClient, TimedConsumer):
    def __init__(self, settings: ClientSettings, options: ConsumerOptions, *, count_calls: bool) -> None:
        _need_ordinals(options)
        if options.partitions or options.group is not None:
            raise BadInput(
                "a timed consumer of the engine jvm is made without partitions and without a group"
            )
        super().__init__(settings, "consumer", count_calls=count_calls)
        self._who, self._client_settings = f"consumer {options.number}", settings
        kind = jpype.JClass("streamgauge.kafka.ConsumeLoop")
        self._loop = made(lambda: kind(self.config, list(options.topics)), self._who, settings)
        self.opened(self._loop.close)
        self.begin_counts()

    def consume(self, work: Work, *, start: Mapping[tuple[int, int], int], checked: bool = False) -> Consumed:
        places, timeout_ns = triples(start), round(work.deadline_s * _NS_PER_S)
        wanted = (places, work.count, timeout_ns, work.values if checked else None)
        numbers = made(lambda: self._loop.consume(*wanted), self._who, self._client_settings)
        self.crossings += 3
        elapsed, received, wrong, repeated = (int(number) for number in numbers[:])
        return Consumed(elapsed, received, wrong, repeated)

    def round_trips(
        self, producer: TimedProducer, work: Work, *, start: Mapping[tuple[int, int], int]
    ) -> RoundTrips:
        assert isinstance(producer, JavaProduceLoop)
        places, timeout_ns = triples(start), round(work.deadline_s * _NS_PER_S)
        sent = (producer.loop, _FIRST_TOPIC, work.values, work.first_ordinal, work.count)
        trips = made(
            lambda: self._loop.roundTrips(*sent, places, timeout_ns), self._who, self._client_settings
        )
        self.crossings += 3
        trip_ns = np.array(trips[:], np.int64)
        return RoundTrips(trip_ns, work.count - len(trip_ns))


def _need_ordinals(options: ProducerOptions | ConsumerOptions) -> None:
    if options.carrier != "ordinal":
        raise BadInput(f"timed loops send ordinals as keys; carrier must be ordinal, not {options.carrier}")
