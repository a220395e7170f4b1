"""The measurements against Kafka's own clients: ours and theirs in turn on the same broker."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.agents import column, run_agents
from bench.bare_loop import BareLoop
from bench.kafka_tools import (
    BATCH_BYTES,
    BUFFER_BYTES,
    FETCH_BYTES,
    IN_FLIGHT,
    LINGER_MS,
    SOCKET_BYTES,
    Ran,
    consumer_performance,
    latency_twin,
    payload_file,
    producer_performance,
)
from bench.ratio import Ratio, in_turns, own_topic
from bench.steady import looks, steady_part
from bench.watched import ProcessWatch
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_SOCKETS = {
    "socket.send.buffer.bytes": SOCKET_BYTES,
    "socket.receive.buffer.bytes": SOCKET_BYTES,
    # Java's clients never have it on.
    "socket.nagle.disable": True,
}
PRODUCING = {
    **_SOCKETS,
    "batch.size": BATCH_BYTES,
    "linger.ms": LINGER_MS,
    "queue.buffering.max.kbytes": BUFFER_BYTES // 1024,
    # So that bytes are the limit, as in Java.
    "queue.buffering.max.messages": 10_000_000,
    "max.in.flight.requests.per.connection": IN_FLIGHT,
}
CONSUMING = {
    **_SOCKETS,
    "fetch.message.max.bytes": FETCH_BYTES,
    # By default librdkafka pauses for a second when it has read 100,000 messages ahead.
    "queued.min.messages": 200_000,
    "fetch.queue.backoff.ms": 2,
}
_LATENCY_SIZE = 700
_LATENCY_WARM_UP_S = 10
"""Java compiles what it does a thousand times a second for the first seconds."""


@dataclass(frozen=True)
class Delays:
    """One side's latencies."""

    latency_ms: NDArray[np.float64]
    most_mib: float
    """Memory of its processes, at its highest."""


class Bench:
    """Everything runs against one broker with one partition."""

    def __init__(self, bootstrap: str, folder: Path, pairs: int) -> None:
        self._bootstrap, self._folder, self._pairs = bootstrap, folder, pairs
        self._target: dict[str, Any] = {
            "name": "kafka",
            "driver": "kafka_confluent",
            "settings": {"bootstrap": bootstrap},
        }
        self._admin = open_driver(Target.model_validate(self._target), {})
        self._client = {"bootstrap.servers": bootstrap}
        self._bare = BareLoop(folder)

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
        return self._rates(what, ("≥ 1.5" if size < 1000 else "≥ 2", "≤ 0.6"), ours, theirs, bare)

    def consume(self, size: int, messages: int) -> Iterator[str]:
        topic = own_topic()
        self._produced(topic, size, messages, keep_topic=True)
        load = {"messages": messages, "message": {"size": size}, "topics": {"name": topic}}

        def ours() -> Ran:
            reader, watches = {**self._target, "consumer_client": CONSUMING}, dict[str, ProcessWatch]()
            run = run_agents(self._folder, reader, load, keep_topic=True, only_read=True, watches=watches)
            state, received = column(run, "receives", "state"), column(run, "receives", "received_ns")
            shutil.rmtree(run.location)
            if len(received) < messages or state.any():
                damaged = int((state > 0).sum())
                raise RuntimeError(f"{len(received)} of {messages} messages came, {damaged} damaged")
            return Ran.of(steady_part(*looks(received)), watches["consumer-0"])

        def theirs() -> Ran:
            return consumer_performance(self._bootstrap, topic, messages)

        def bare() -> Ran:
            return self._bare.run("consume", topic, size, messages, {**self._client, **CONSUMING})

        what = f"consume {size} B against ConsumerPerformance"
        try:
            yield from self._rates(what, ("≥ 1.1" if size < 1000 else "≥ 1.6", "≤ 0.8"), ours, theirs, bare)
        finally:
            self._admin.remove_topics([topic])

    def latency(self, rate: int, seconds: int) -> Iterator[str]:
        """Of theirs both clients are in one process, of ours each has its own."""
        messages, warm_up = rate * seconds, rate * _LATENCY_WARM_UP_S
        found: dict[str, list[Delays]] = {"ours": [], "theirs": []}

        def ours() -> None:
            found["ours"].append(self._own_delays(rate, messages, warm_up))

        def theirs() -> None:
            with self._topic() as topic:
                latencies, watch = latency_twin(
                    self._bootstrap, topic, _LATENCY_SIZE, rate, messages, warm_up
                )
            found["theirs"].append(Delays(latencies, watch.most_bytes / 2**20))

        for _ in in_turns(self._pairs, ours, theirs):
            pass
        sides = [each[1:] for each in found.values()]
        for name, share, goal in (("median", 0.5, "≤ 0.9"), ("p99", 0.99, "stated")):
            what = f"{name} latency at {rate:,}/s against a Java twin"
            figures = [[float(np.quantile(d.latency_ms, share)) for d in side] for side in sides]
            yield Ratio(what, goal, *figures).line("ms")
        yield _memory_line([[delays.most_mib for delays in side] for side in sides])

    def schedule(self, rate: int, seconds: int, linger_ms: int) -> Iterator[str]:
        """How late messages are handed over, against a C loop that does nothing but wait and hand over."""
        settings, warm_up, messages = {**_SOCKETS, "linger.ms": linger_ms}, rate, rate * seconds
        found: dict[str, list[float]] = {"ours": [], "bare": []}

        def ours() -> None:
            load = {
                "messages": messages,
                "warm_up_messages": warm_up,
                "rate": rate,
                "consumers": 0,
                "acks": "1",
            }
            run = run_agents(
                self._folder,
                {**self._target, "producer_client": settings},
                {**load, "message": {"size": _LATENCY_SIZE}, "topics": {"name": own_topic()}},
            )
            columns = [column(run, "sends", name) for name in ("sequence", "intended_ns", "sent_ns")]
            sequence, intended, sent = columns
            shutil.rmtree(run.location)
            found["ours"].append(_p99((sent - intended)[sequence >= warm_up] / 1e6))

        def bare() -> None:
            with self._topic() as topic:
                client = {**self._client, **settings, "acks": 1}
                late_ms = self._bare.lag_ms(rate, topic, _LATENCY_SIZE, messages + warm_up, client)
            found["bare"].append(_p99(late_ms[warm_up:]))

        for _ in in_turns(self._pairs, ours, *([] if self._bare.missing else [bare])):
            pass
        what = f"schedule lag p99 at {rate:,}/s, linger {linger_ms}, to a C loop"
        if self._bare.missing:
            yield f"{what}: {statistics.median(found['ours']):.3f} ms; {self._bare.missing}"
            return
        yield Ratio(what, "≤ 2", found["ours"][1:], found["bare"][1:]).line("ms")

    def _rates(
        self,
        what: str,
        goals: tuple[str, str],
        ours: Callable[[], Ran],
        theirs: Callable[[], Ran],
        bare: Callable[[], Ran],
    ) -> Iterator[str]:
        """Ours against theirs, and against a bare C loop on librdkafka, in the same turns."""
        measures = {"ours": ours, "theirs": theirs}
        if not self._bare.missing:
            measures["a bare C loop"] = bare
        found: dict[str, list[Ran]] = {name: [] for name in measures}
        turns = [partial(_keep, found[name], measure) for name, measure in measures.items()]
        for _ in in_turns(self._pairs, *turns):
            pass
        counted = {name: each[1:] for name, each in found.items()}
        yield from _compared(what, goals, counted["ours"], counted["theirs"])
        if self._bare.missing:
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

    @contextmanager
    def _topic(self) -> Iterator[str]:
        topic = own_topic()
        self._admin.prepare_topics(Topics(name=topic), (topic,))
        try:
            yield topic
        finally:
            self._admin.remove_topics([topic])

    def _own_delays(self, rate: int, messages: int, warm_up: int) -> Delays:
        watches: dict[str, ProcessWatch] = {}
        run = run_agents(
            self._folder,
            {
                **self._target,
                "producer_client": {**_SOCKETS, "linger.ms": 0},
                "consumer_client": {**_SOCKETS, "fetch.min.bytes": 1, "fetch.wait.max.ms": 100},
            },
            {
                "messages": messages,
                "warm_up_messages": warm_up,
                "rate": rate,
                "acks": "1",
                "message": {"size": _LATENCY_SIZE},
                "topics": {"name": own_topic()},
            },
            watches=watches,
        )
        intended = column(run, "sends", "intended_ns")
        sequence, received = column(run, "receives", "sequence"), column(run, "receives", "received_ns")
        if len(received) != messages + warm_up:
            raise RuntimeError(f"{len(received)} of {messages + warm_up} messages came")
        order = np.argsort(column(run, "sends", "sequence"))
        latency_ms = (received - intended[order][sequence]) / 1e6
        return Delays(
            latency_ms[sequence >= warm_up],
            sum(watch.most_bytes for watch in watches.values()) / 2**20,
        )


def _p99(values: NDArray[np.float64]) -> float:
    return float(np.quantile(values, 0.99))


def _keep(found: list[Ran], measure: Callable[[], Ran]) -> None:
    found.append(measure())


def _compared(what: str, goals: tuple[str, str], ours: list[Ran], theirs: list[Ran]) -> Iterator[str]:
    sides = (ours, theirs)
    rates = Ratio(what, goals[0], *([ran.steady.rate_per_s for ran in side] for side in sides))
    yield rates.line("msg/s")
    cpu = Ratio("… CPU of the client a message", goals[1], *([ran.cpu_us for ran in side] for side in sides))
    yield cpu.line("µs")
    yield _memory_line([[ran.most_mib for ran in side] for side in sides])


def _memory_line(sides: list[list[float]]) -> str:
    ours, theirs = (statistics.median(side) for side in sides)
    return f"… memory of the clients at its highest: ours {ours:.0f} MiB, theirs {theirs:.0f} MiB"
