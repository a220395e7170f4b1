"""Engine `python`: produce, consume and round trip, timed, with the loop in Python as in an application.

cold   from before the client is made: connecting, metadata and a producer id count
warm   a producer has had a message acked in this very topic; a consumer has read up to the end of it,
       and no fetch of that is on its way any more
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from streamgauge.agents.counters import added
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import (
    UNKNOWN,
    Acks,
    Consumer,
    ConsumerOptions,
    Driver,
    Producer,
    ProducerOptions,
    Received,
)
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.outcome import Outcome, consumed, produced
from streamgauge.families.compare.section import Comparison, EngineName
from streamgauge.families.compare.timing import (
    SETTLE_S,
    Deadline,
    Place,
    Stopwatch,
    since,
    wait_out_fetches,
)
from streamgauge.payload.making import Outgoing

_FULL_WAIT_S = 0.001
_FLUSH_WAIT_S = 0.005
_POLL_S = 0.1
_IDLE_POLLS = 10
"""After so many in a row without a record it is asked whether any is left."""


class PythonLoops:
    """The timed operations of one library."""

    engine: EngineName = "python"

    def __init__(self, driver: Driver, comparison: Comparison) -> None:
        self._driver, self._comparison = driver, comparison
        self._partitions = comparison.topics.partitions
        self.clients: dict[str, Producer | Consumer] = {}
        """The newest of each role; asked for their settings when nothing is timed."""

    def produce(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        """Send all and flush: the time ends when the fate of every message is known."""
        bursts = self._comparison.bursts
        batches = messages.batches(burst=None if bursts is None else bursts.length)
        deadline = Deadline(self._comparison.test_timeout, "produce", messages.count)
        watch = Stopwatch()
        producer = self._producer(place)
        try:
            watch.go_by(producer.clock)
            counted: Mapping[str, int] = {}
            if warm:
                self._prime(producer, place, messages, deadline)
                counted = producer.counters()
                watch.restart()
            told = self._send_all(producer, batches, watch, deadline)
            watch.stop()
            return produced(watch, told, messages, since(counted, producer.counters()))
        finally:
            producer.close()

    def consume(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        """Read until the expected count: the time begins with the assignment."""
        deadline = Deadline(self._comparison.test_timeout, "consume", messages.count)
        watch = Stopwatch()
        consumer = self._consumer(place)
        try:
            watch.go_by(consumer.clock)
            counted: Mapping[str, int] = {}
            if warm:
                self._reach_the_end(consumer, place)
                counted = consumer.counters()
                watch.restart()
            consumer.assign(place.start)
            keys, wrong = self._read_all(consumer, place, messages, deadline)
            watch.stop()
            return consumed(watch, messages, keys, wrong, since(counted, consumer.counters()))
        finally:
            consumer.close()

    def round_trip(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
        """Send one message, wait until it is back, send the next."""
        singles = messages.batches(most=1)
        deadline = Deadline(self._comparison.test_timeout, "round trip", messages.count)
        watch = Stopwatch()
        consumer = self._consumer(place)
        producer: Producer | None = None
        try:
            consumer.assign(place.start)
            producer = self._producer(place)
            watch.go_by(producer.clock)
            counted: Mapping[str, int] = {}
            if warm:
                self._trip(producer, consumer, messages.primers(1), deadline, 0)
                counted = added(producer.counters(), consumer.counters())
                watch.restart()
            keys: list[list[bytes | None]] = []
            wrong = 0 if self._comparison.check_on_consume else None
            for number, single in enumerate(singles):
                got = self._trip(producer, consumer, single, deadline, number)
                keys.append(got.carried or [])
                if wrong is not None:
                    wrong += messages.wrong(got.values, got.carried or [])
            watch.stop()
            counters = since(counted, added(producer.counters(), consumer.counters()))
            return consumed(watch, messages, keys, wrong, counters)
        finally:
            consumer.close()
            if producer is not None:
                producer.close()

    def _producer(self, place: Place) -> Producer:
        c = self._comparison
        options = ProducerOptions(2 * place.number, (place.topic,), "ordinal", c.acks_in_force, c.compression)
        producer = self._driver.producer(options)
        self.clients["producer"] = producer
        return producer

    def _consumer(self, place: Place) -> Consumer:
        options = ConsumerOptions(2 * place.number + 1, (place.topic,), "ordinal", (), None, {})
        consumer = self._driver.consumer(options)
        self.clients["consumer"] = consumer
        return consumer

    def _prime(self, producer: Producer, place: Place, messages: OrdinalMessages, deadline: Deadline) -> None:
        """One message, or with several partitions enough for each to have one."""
        count = 1 if self._partitions == 1 else 8 * self._partitions
        told = self._send_all(producer, [messages.primers(count)], Stopwatch(), deadline)
        if failed := [why for acks in told for why in acks.errors.values()]:
            raise CaseFailed(f"the message that was to warm the producer was not delivered: {failed[0]}")
        if any((acks.offsets == UNKNOWN).any() for acks in told):
            producer.clock.sleep_until(producer.clock.now_ns() + round(SETTLE_S * NS_PER_S))
            place.start = self._driver.end_offsets((place.topic,), self._partitions)
            return
        for acks in told:
            partitions = np.broadcast_to(acks.partitions, len(acks)).tolist()
            for partition, offset in zip(partitions, acks.offsets.tolist(), strict=True):
                place.start[(0, partition)] = max(place.start.get((0, partition), 0), offset + 1)

    def _send_all(
        self, producer: Producer, batches: list[Outgoing], watch: Stopwatch, deadline: Deadline
    ) -> list[Acks]:
        bursts = self._comparison.bursts
        told: list[Acks] = []
        for whole in batches:
            batch = whole
            # Before a burst, never after the last one: there its acks are waited for, and that counts.
            if bursts is not None and batch.first_sequence > 0 and batch.first_sequence % bursts.length == 0:
                deadline.put_off(bursts.interval)
                watch.pause(bursts.interval)
            while len(batch):
                taken = producer.send(batch, 0)
                if (acks := producer.poll(0 if taken else _FULL_WAIT_S)) is not None:
                    told.append(acks)
                if taken < len(batch):
                    deadline.check(sum(map(len, told)))
                batch = batch.rest(taken)
        producer.flush_soon()
        while producer.outstanding():
            if (acks := producer.poll(_FLUSH_WAIT_S)) is not None:
                told.append(acks)
            deadline.check(sum(map(len, told)))
        return told

    def _reach_the_end(self, consumer: Consumer, place: Place) -> None:
        """Connected to every leader, with nothing on its way."""
        consumer.assign(self._driver.end_offsets((place.topic,), self._partitions))
        consumer.wait_ready(self._comparison.test_timeout)
        consumer.assign({})
        wait_out_fetches(consumer.shared_settings(), consumer.clock)

    def _read_all(
        self, consumer: Consumer, place: Place, messages: OrdinalMessages, deadline: Deadline
    ) -> tuple[list[list[bytes | None]], int | None]:
        """The keys of all that came, and how many values were wrong, if that is to be known."""
        check, expected = self._comparison.check_on_consume, messages.count
        keys: list[list[bytes | None]] = []
        received = wrong = idle = 0
        while received < expected:
            got = consumer.poll(_POLL_S)
            if got is None:
                idle += 1
                if idle % _IDLE_POLLS == 0 and self._is_read_to_the_end(consumer, place):
                    break
            else:
                idle = 0
                received += len(got)
                keys.append(got.carried or [])
                if check:
                    wrong += messages.wrong(got.values, got.carried or [])
            deadline.check(received)
        return keys, wrong if check else None

    def _is_read_to_the_end(self, consumer: Consumer, place: Place) -> bool:
        return consumer.caught_up(self._driver.end_offsets((place.topic,), self._partitions))

    def _trip(
        self, producer: Producer, consumer: Consumer, single: Outgoing, deadline: Deadline, done: int
    ) -> Received:
        """There and back; nothing is flushed, so that a linger counts."""
        while not producer.send(single, 0):
            producer.poll(_FULL_WAIT_S)
            deadline.check(done)
        while (got := consumer.poll(_POLL_S)) is None:
            producer.poll(0)
            deadline.check(done)
        producer.poll(0)
        return got
