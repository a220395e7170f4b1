"""Thousands of Kafka consumers in one process, each with its own librdkafka client.

One thread goes round all of them; librdkafka's threads have fetched by then what there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import confluent_kafka
import orjson
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import BadInput, CaseFailed
from streamgauge.drivers.kafka.confluent.trouble import Trouble
from streamgauge.drivers.kafka.topics import LOGGER, bad_setting
from streamgauge.drivers.swarm import JSON_KINDS, Heard, Swarm, SwarmOptions, allow_open_files

_FILES_PER_CLIENT = 9
"""Connections to the first address, the broker and the coordinator, and a pipe of two ends for each."""
MOST_CLIENTS = 1000
"""PTHREAD_KEYS_MAX is 1024."""
_AT_ONCE = 500
_LEAST_PAUSE_S = 0.001
_PAUSE = 2.0
"""A round that found nothing is followed by a pause of so many times what it took: going round thousands of
consumers without one would take a core, and a client waits at most that long."""
_CLOSE_DEADLINE_S = 60.0
_CLOSED_AT_ONCE = 64
"""Leaving a group takes a round trip each."""


class KafkaSwarm(Swarm):
    def __init__(self, options: SwarmOptions, heard: Heard, settings: Mapping[str, Any]) -> None:
        super().__init__(options, heard)
        if options.count > MOST_CLIENTS:
            raise BadInput(
                f"{options.count:,} Kafka consumers in one process: confluent-kafka keeps a thread-local key "
                f"for each, of which a process has {MOST_CLIENTS:,} or so; use --clients-per-process "
                f"{MOST_CLIENTS} (fanout.kafka_clients_per_process)"
            )
        allow_open_files(_FILES_PER_CLIENT * options.count)
        self._settings = dict(settings)
        self._consumers: list[confluent_kafka.Consumer] = []
        self._parse = options.parse_json and options.kind in JSON_KINDS

    def connect(self, deadline_s: float, go_on: Callable[[], bool]) -> None:
        begun = time.monotonic()
        for place in range(self.options.count):
            while (wait_s := begun + place / self.options.ramp_up_per_s - time.monotonic()) > 0:
                time.sleep(wait_s)
            if not go_on():
                return
            self._check_time(begun, deadline_s, place, "made")
            self._consumers.append(self._consumer(place))
        waiting = list(range(self.options.count))
        while waiting and go_on():
            waiting = [place for place in waiting if not self._is_ready(place)]
            self._check_time(begun, deadline_s, self.options.count - len(waiting), "ready")
            if waiting:
                time.sleep(0.05)

    def _check_time(self, begun: float, deadline_s: float, done: int, what: str) -> None:
        if time.monotonic() - begun > deadline_s:
            raise CaseFailed(
                f"only {done:,} of {self.options.count:,} consumers were {what} within {deadline_s:g} s"
            )

    def _consumer(self, place: int) -> confluent_kafka.Consumer:
        options = self.options
        group = f"{options.group or 'streamgauge'}-{options.first + place}"
        try:
            own = {"group.id": group, "error_cb": partial(self._on_error, place)}
            made = confluent_kafka.Consumer({**self._settings, **own}, logger=LOGGER)
        except KafkaException as error:
            if place == 0:
                raise bad_setting(error) from None
            raise CaseFailed(
                f"only {place:,} of {options.count:,} consumers could be made: {error}"
            ) from None
        places = [
            TopicPartition(options.topic, partition, offset)
            for (_, partition), offset in options.start.items()
        ]
        if options.group is None:
            made.assign(places)
        else:
            made.subscribe([options.topic], on_assign=lambda consumer, _: consumer.assign(places))
        return made

    def _on_error(self, place: int, error: KafkaError) -> None:
        """Of the client as a whole; also that its topic was deleted is told so."""
        if not Trouble.of_client(error).passes:
            self.gone.setdefault(place, error.str())

    def _is_ready(self, place: int) -> bool:
        """A fetch has been answered; members of a group join while they are polled."""
        consumer = self._consumers[place]
        self._take(place, consumer.consume(_AT_ONCE, 0))
        assigned = consumer.assignment()
        return bool(assigned) and all(
            consumer.get_watermark_offsets(part, cached=True)[1] >= 0 for part in assigned
        )

    def serve(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            found, begun = 0, time.monotonic()
            for place, consumer in enumerate(self._consumers):
                if records := consumer.consume(_AT_ONCE, 0):
                    found += len(records)
                    self._take(place, records)
            if time.monotonic() >= until:
                return
            if not found:
                time.sleep(max(_LEAST_PAUSE_S, _PAUSE * (time.monotonic() - begun)))

    def _take(self, place: int, records: list[Message]) -> None:
        is_measured = place in self.options.measured
        for record in records:
            error = record.error()
            if error is not None:
                if not Trouble.of_message(record, error).passes:
                    self.gone.setdefault(place, error.str())
                continue
            self.counts[place] += 1
            value = record.value() or b""
            if self._parse:
                stamp = orjson.loads(value).get("timestamp", "")
                if is_measured:
                    self.heard(place, stamp, now_ns())
            elif is_measured:
                self.heard(place, _stamp_in(value), now_ns())

    def settings_in_force(self) -> dict[str, Any]:
        return {**self._settings, "consumers": self.options.count, "parse_json": self._parse}

    def close(self) -> None:
        side_by_side = ThreadPoolExecutor(_CLOSED_AT_ONCE)
        wait([side_by_side.submit(consumer.close) for consumer in self._consumers], _CLOSE_DEADLINE_S)
        side_by_side.shutdown(wait=False, cancel_futures=True)
        self._consumers = []


def _stamp_in(value: bytes) -> str:
    """Of text it comes first; of JSON that is not to be parsed, behind its name."""
    if value[:1] == b"{":
        at = value.find(b'"timestamp":"') + 13
        return value[at : at + 29].decode()
    return value[:29].decode()
