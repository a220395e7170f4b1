"""How late: latency against a Java twin, and schedule lag against a bare C loop."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.agents import column, run_agents
from bench.kafka_tools import latency_twin
from bench.on_kafka import SOCKETS, OnKafka, memory_line
from bench.ratio import Ratio, in_turns, own_topic
from bench.watched import ProcessWatch

_SIZE = 700
_WARM_UP_S = 10
"""Java compiles what it does a thousand times a second for the first seconds."""


@dataclass(frozen=True)
class Delays:
    """One side's latencies."""

    latency_ms: NDArray[np.float64]
    most_mib: float
    """Memory of its processes, at its highest."""


class DelayBench(OnKafka):
    def latency(self, rate: int, seconds: int) -> Iterator[str]:
        """Of theirs both clients are in one process, of ours each has its own."""
        messages, warm_up = rate * seconds, rate * _WARM_UP_S
        found: dict[str, list[Delays]] = {"ours": [], "theirs": []}

        def ours() -> None:
            found["ours"].append(self._own_delays(rate, messages, warm_up))

        def theirs() -> None:
            with self._topic() as topic:
                latencies, watch = latency_twin(self._bootstrap, topic, _SIZE, rate, messages, warm_up)
            found["theirs"].append(Delays(latencies, watch.most_bytes / 2**20))

        for _ in in_turns(self._pairs, ours, theirs):
            pass
        sides = [each[1:] for each in found.values()]
        for name, share, goal in (("median", 0.5, "≤ 0.9"), ("p99", 0.99, "stated")):
            what = f"{name} latency at {rate:,}/s against a Java twin"
            figures = [[float(np.quantile(d.latency_ms, share)) for d in side] for side in sides]
            yield Ratio(what, goal, *figures).line("ms")
        yield memory_line([[delays.most_mib for delays in side] for side in sides])

    def schedule(self, rate: int, seconds: int, linger_ms: int) -> Iterator[str]:
        """How late messages are handed over, against a C loop that does nothing but wait and hand over."""
        settings, warm_up, messages = {**SOCKETS, "linger.ms": linger_ms}, rate, rate * seconds
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
                {**load, "message": {"size": _SIZE}, "topics": {"name": own_topic()}},
            )
            columns = [column(run, "sends", name) for name in ("sequence", "intended_ns", "sent_ns")]
            sequence, intended, sent = columns
            shutil.rmtree(run.location)
            found["ours"].append(_p99((sent - intended)[sequence >= warm_up] / 1e6))

        def bare() -> None:
            with self._topic() as topic:
                client = {**self._client, **settings, "acks": 1}
                late_ms = self._bare.lag_ms(rate, topic, _SIZE, messages + warm_up, client)
            found["bare"].append(_p99(late_ms[warm_up:]))

        for _ in in_turns(self._pairs, ours, *([] if self._bare.missing else [bare])):
            pass
        what = f"schedule lag p99 at {rate:,}/s, linger {linger_ms}, to a C loop"
        if self._bare.missing:
            yield f"{what}: {statistics.median(found['ours']):.3f} ms; {self._bare.missing}"
            return
        yield Ratio(what, "≤ 2", found["ours"][1:], found["bare"][1:]).line("ms")

    def _own_delays(self, rate: int, messages: int, warm_up: int) -> Delays:
        watches: dict[str, ProcessWatch] = {}
        run = run_agents(
            self._folder,
            {
                **self._target,
                "producer_client": {**SOCKETS, "linger.ms": 0},
                "consumer_client": {**SOCKETS, "fetch.min.bytes": 1, "fetch.wait.max.ms": 100},
            },
            {
                "messages": messages,
                "warm_up_messages": warm_up,
                "rate": rate,
                "acks": "1",
                "message": {"size": _SIZE},
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
