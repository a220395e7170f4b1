"""Rates against Kafka's own clients, and against a bare C loop: in turn on the same broker."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bench.agents import column, run_agents
from bench.kafka_tools import (
    BATCH_BYTES,
    BUFFER_BYTES,
    IN_FLIGHT,
    LINGER_MS,
    Ran,
    consumer_performance,
    payload_file,
    producer_performance,
)
from bench.on_kafka import SOCKETS, OnKafka, memory_line
from bench.ratio import Ratio, in_turns, own_topic
from bench.steady import looks, steady_part
from bench.watched import ProcessWatch

PRODUCING = {
    **SOCKETS,
    "batch.size": BATCH_BYTES,
    "linger.ms": LINGER_MS,
    "queue.buffering.max.kbytes": BUFFER_BYTES // 1024,
    # So that bytes are the limit, as in Java.
    "queue.buffering.max.messages": 10_000_000,
    "max.in.flight.requests.per.connection": IN_FLIGHT,
}
FETCHES = {1: 32_000, 2: 50_000, 4: 100_000, 16: 200_000}
"""MiB that may be asked for at once, and how many messages librdkafka then reads ahead. Each side is measured
with those that are best for it: Java's consumer likes large ones, librdkafka what stays in the cache."""


def consuming(fetch_mib: int) -> dict[str, Any]:
    """Settings of librdkafka."""
    return {
        **SOCKETS,
        "fetch.message.max.bytes": fetch_mib * 2**20,
        "queued.min.messages": FETCHES[fetch_mib],
        # By default librdkafka pauses for a second when it has read that far ahead.
        "fetch.queue.backoff.ms": 1,
    }


_LEAST_READING_S = 4.0
"""Twice as long as it takes to tell a rate: the fastest may be twice as fast once it is warm."""
MOST_BYTES = 6 * 2**30


class RateBench(OnKafka):
    """Rates, CPU and memory."""

    def produce(self, size: int, messages: int) -> Iterator[str]:
        payloads = payload_file(self._folder, size)

        def ours() -> Ran:
            run, watch = self._produced(own_topic(), size, messages)
            acked = column(run, "sends", "acked_ns")
            shutil.rmtree(run.location)
            if len(acked) != messages or np.isnan(acked.astype(float)).any():
                raise RuntimeError(f"{len(acked)} of {messages} messages were recorded as acked")
            return Ran.of(steady_part(*looks(acked)), watch)

        def theirs() -> Ran:
            with self._topic() as topic:
                return producer_performance(self._bootstrap, topic, payloads, messages)

        def bare() -> Ran:
            with self._topic() as topic:
                return self._bare.run(
                    "produce", topic, size, messages, {**self._client, **PRODUCING, "acks": 1}
                )

        what = f"produce {size} B against ProducerPerformance"
        goals = ("≥ 1.5" if size < 1000 else "≥ 2", "≤ 0.6")
        return self._rates(what, goals, ours, theirs, None if self._bare.missing else bare)

    def consume(self, size: int, messages: int) -> Iterator[str]:
        topic = own_topic()
        self._produced(topic, size, messages, keep_topic=True)
        messages += self._more_to_read(topic, size, messages)
        load = {"messages": messages, "message": {"size": size}, "topics": {"name": topic}}

        def ours(fetch_mib: int) -> Ran:
            client = consuming(fetch_mib)
            reader, watches = {**self._target, "consumer_client": client}, dict[str, ProcessWatch]()
            run = run_agents(self._folder, reader, load, keep_topic=True, only_read=True, watches=watches)
            state, received = column(run, "receives", "state"), column(run, "receives", "received_ns")
            shutil.rmtree(run.location)
            if len(received) < messages or state.any():
                damaged = int((state > 0).sum())
                raise RuntimeError(f"{len(received)} of {messages} messages came, {damaged} damaged")
            return Ran.of(steady_part(*looks(received)), watches["consumer-0"])

        def theirs(fetch_mib: int) -> Ran:
            return consumer_performance(self._bootstrap, topic, messages, fetch_mib * 2**20)

        def bare(fetch_mib: int) -> Ran:
            settings = {**self._client, **consuming(fetch_mib)}
            return self._bare.run("consume", topic, size, messages, settings)

        what = f"consume {size} B against ConsumerPerformance"
        sides = {"ours": ours, "theirs": theirs}
        if not self._bare.missing:
            sides["a bare C loop"] = bare
        try:
            best: dict[str, Callable[[], Ran]] = {}
            for name, side in sides.items():
                best[name], line = _best(name, side)
                yield line
            goals = ("≥ 1.1" if size < 1000 else "≥ 1.6", "≤ 0.8")
            yield from self._rates(what, goals, best["ours"], best["theirs"], best.get("a bare C loop"))
        finally:
            self._admin.remove_topics([topic])

    def _more_to_read(self, topic: str, size: int, messages: int) -> int:
        """A rate that is over in a second is none: so many more are written that the fastest is busy for long
        enough, as far as they fit beside the broker's pages."""
        if self._bare.missing:
            return 0
        took_s = self._bare.reading_s(topic, size, messages, {**self._client, **consuming(2)})
        wanted = min(int(messages * _LEAST_READING_S / took_s), MOST_BYTES // size)
        more = max(0, wanted - messages)
        if more:
            self._produced(topic, size, more, keep_topic=True)
        return more

    def _rates(
        self,
        what: str,
        goals: tuple[str, str],
        ours: Callable[[], Ran],
        theirs: Callable[[], Ran],
        bare: Callable[[], Ran] | None,
    ) -> Iterator[str]:
        """Ours against theirs, and against a bare C loop on librdkafka, in the same turns."""
        measures = {"ours": ours, "theirs": theirs}
        if bare is not None:
            measures["a bare C loop"] = bare
        found: dict[str, list[Ran]] = {name: [] for name in measures}
        turns = [partial(_keep, found[name], measure) for name, measure in measures.items()]
        for _ in in_turns(self._pairs, *turns):
            pass
        counted = {name: each[1:] for name, each in found.items()}
        yield from _compared(what, goals, counted["ours"], counted["theirs"])
        if bare is None:
            yield f"… against a bare C loop: not measured, {self._bare.missing}"
        else:
            goals = ("≥ 0.85", "stated")
            yield from _compared("… against a bare C loop", goals, counted["ours"], counted["a bare C loop"])
        for name, side in counted.items():
            restless = sum(not ran.steady.is_flat for ran in side)
            least = min(ran.steady.count for ran in side)
            yield f"… {name}: flat in {len(side) - restless} of {len(side)} runs, {least:,} messages and more"

    def _produced(
        self, topic: str, size: int, messages: int, *, keep_topic: bool = False
    ) -> tuple[Any, ProcessWatch]:
        watches: dict[str, ProcessWatch] = {}
        load = {"messages": messages, "consumers": 0, "acks": "1", "message": {"size": size}}
        run = run_agents(
            self._folder,
            {**self._target, "producer_client": PRODUCING},
            {**load, "topics": {"name": topic}},
            keep_topic=keep_topic,
            watches=watches,
        )
        return run, watches["producer-0"]


def _best(name: str, side: Callable[[int], Ran]) -> tuple[Callable[[], Ran], str]:
    """With fetches of the size at which it reads fastest, and what was seen of each."""
    rates = {mib: side(mib).steady.rate_per_s for mib in FETCHES}
    best = max(rates, key=lambda mib: rates[mib])
    seen = ", ".join(f"{mib} MiB {rate / 1e6:.2f}M/s" for mib, rate in rates.items())
    return partial(side, best), f"… {name}: fetches of {best} MiB ({seen})"


def _keep(found: list[Ran], measure: Callable[[], Ran]) -> None:
    found.append(measure())


def _compared(what: str, goals: tuple[str, str], ours: list[Ran], theirs: list[Ran]) -> Iterator[str]:
    sides = (ours, theirs)
    rates = Ratio(what, goals[0], *([ran.steady.rate_per_s for ran in side] for side in sides))
    yield rates.line("msg/s")
    cpu = Ratio("… CPU of the client a message", goals[1], *([ran.cpu_us for ran in side] for side in sides))
    yield cpu.line("µs")
    yield memory_line([[ran.most_mib for ran in side] for side in sides])
