"""Engine `jvm`: the same timed operations, each a single call of a loop inside the library's JVM.

cold   making the client counts too: its time is added to the loop's own
warm   a producer has had a message acked in this very topic; a consumer has read from it before
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from streamgauge.agents.counters import added
from streamgauge.core.clock import Clock
from streamgauge.drivers.contract import ConsumerOptions, Driver, ProducerOptions
from streamgauge.drivers.engine import Bursts, TimedConsumer, TimedProducer, Values, Work, jvm_driver
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.outcome import Outcome
from streamgauge.families.compare.section import Comparison, EngineName
from streamgauge.families.compare.timing import SETTLE_S, Place, Stopwatch, since, wait_out_fetches


class JvmLoops:
    """The timed operations of one library."""

    engine: EngineName = "jvm"

    def __init__(self, driver: Driver, comparison: Comparison) -> None:
        self._driver, self._comparison = jvm_driver(driver), comparison
        self._partitions = comparison.topics.partitions
        self._loaded: tuple[OrdinalMessages, Values] | None = None
        self.clients: dict[str, Any] = {}

    def produce(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        values, bursts = self._values(messages), self._comparison.bursts
        watch = Stopwatch()
        producer = self._producer(place)
        try:
            made_ns, counted = self._made(watch, warm), dict[str, int]()
            if warm:
                self._prime(producer, place, values, messages)
                counted = producer.counters()
                watch.restart()
            done = producer.produce(
                Work(
                    values,
                    messages.count,
                    deadline_s=self._comparison.test_timeout,
                    bursts=None if bursts is None else Bursts(bursts.length, 1000 * bursts.interval),
                )
            )
            watch.stop()
            error = None
            if done.acked < messages.count:
                why = done.first_error or "the time was up (comparison.test_timeout)"
                error = f"{messages.count - done.acked} of {messages.count} messages were not acked: {why}"
            counters = since(counted, producer.counters())
            elapsed_ns = made_ns + done.elapsed_ns - done.paused_ns
            return _outcome(watch, elapsed_ns, done.acked, error, counters)
        finally:
            producer.close()

    def consume(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        values = self._values(messages)
        timeout_s, is_checked = self._comparison.test_timeout, self._comparison.check_on_consume
        watch = Stopwatch()
        consumer = self._consumer(place)
        try:
            made_ns, counted = self._made(watch, warm), dict[str, int]()
            if warm:
                consumer.consume(Work(values, 1, deadline_s=timeout_s), start=place.start)
                wait_out_fetches(consumer.shared_settings(), Clock())
                counted = consumer.counters()
                watch.restart()
            work = Work(values, messages.count, deadline_s=timeout_s)
            done = consumer.consume(work, start=place.start, checked=is_checked)
            watch.stop()
            seen = min(messages.count, done.received - done.repeated)
            error = None
            if seen < messages.count:
                error = f"{messages.count - seen} of {messages.count} messages did not come"
            elif done.wrong:
                error = f"{done.wrong} records are not what was sent"
            return _outcome(
                watch,
                made_ns + done.elapsed_ns,
                seen,
                error,
                since(counted, consumer.counters()),
                duplicate=done.repeated,
                corrupt=done.wrong if is_checked else None,
            )
        finally:
            consumer.close()

    def round_trip(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        values, timeout_s = self._values(messages), self._comparison.test_timeout
        watch = Stopwatch()
        consumer = self._consumer(place)
        producer: TimedProducer | None = None
        try:
            producer = self._producer(place)
            made_ns, counted = self._made(watch, warm), dict[str, int]()
            if warm:
                one = Work(values, 1, deadline_s=timeout_s, first_ordinal=messages.count)
                consumer.round_trips(producer, one, start=place.start)
                place.start = self._driver.end_offsets((place.topic,), self._partitions)
                counted = added(producer.counters(), consumer.counters())
                watch.restart()
            done = consumer.round_trips(
                producer, Work(values, messages.count, deadline_s=timeout_s), start=place.start
            )
            watch.stop()
            error = f"{done.missing} of {messages.count} messages did not come" if done.missing else None
            counters = since(counted, added(producer.counters(), consumer.counters()))
            elapsed_ns = made_ns + int(done.trip_ns.sum())
            return _outcome(watch, elapsed_ns, messages.count - done.missing, error, counters)
        finally:
            consumer.close()
            if producer is not None:
                producer.close()

    def _values(self, messages: OrdinalMessages) -> Values:
        """Copied to where the engine reaches them once a cell, outside the measured time."""
        if self._loaded is None or self._loaded[0] is not messages:
            self._loaded = None
            self._loaded = (messages, self._driver.load(messages.values))
        return self._loaded[1]

    def _producer(self, place: Place) -> TimedProducer:
        c = self._comparison
        options = ProducerOptions(2 * place.number, (place.topic,), "ordinal", c.acks_in_force, c.compression)
        self.clients["producer"] = producer = self._driver.timed_producer(options)
        return producer

    def _consumer(self, place: Place) -> TimedConsumer:
        options = ConsumerOptions(2 * place.number + 1, (place.topic,), "ordinal", (), None, {})
        self.clients["consumer"] = consumer = self._driver.timed_consumer(options)
        return consumer

    def _prime(
        self, producer: TimedProducer, place: Place, values: Values, messages: OrdinalMessages
    ) -> None:
        """Ordinals above those that are counted: the consumer begins behind them."""
        count = 1 if self._partitions == 1 else 8 * self._partitions
        timeout_s = self._comparison.test_timeout
        producer.produce(Work(values, count, deadline_s=timeout_s, first_ordinal=messages.count))
        if self._comparison.acks_in_force == "0":
            time.sleep(SETTLE_S)
        place.start = self._driver.end_offsets((place.topic,), self._partitions)

    @staticmethod
    def _made(watch: Stopwatch, warm: bool) -> int:
        """What making the client took, where that counts."""
        watch.stop()
        return 0 if warm else watch.elapsed_ns


def _outcome(
    watch: Stopwatch,
    elapsed_ns: int,
    seen: int,
    error: str | None,
    counters: Mapping[str, int],
    **rest: Any,
) -> Outcome:
    return Outcome(
        watch.started_ns, elapsed_ns, watch.cpu_ns, seen=seen, error=error, counters=counters, **rest
    )
