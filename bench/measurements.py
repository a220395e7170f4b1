"""The measurements: ours and theirs in turn on the same broker, so that ratios mean something."""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.agents import column, run_agents
from bench.kafka_tools import consumer_performance, latency_twin, producer_performance
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

BATCH_BYTES = 131_072
PAIRS = 5
# By default librdkafka pauses for a second when it has read 100,000 messages ahead.
READ_AHEAD = {"queued.min.messages": 200_000, "fetch.queue.backoff.ms": 2}


@dataclass
class Ratio:
    """Ours over theirs, pair by pair."""

    what: str
    goal: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(o / t for o, t in zip(self.ours, self.theirs, strict=True))

    def line(self, unit: str) -> str:
        ratios = sorted(o / t for o, t in zip(self.ours, self.theirs, strict=True))
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        return (
            f"{self.what:<44} {self.median:6.2f}×  (goal {self.goal}; pairs {ratios[0]:.2f}–{ratios[-1]:.2f};"
            f" ours {ours:,.4g} {unit}, theirs {theirs:,.4g} {unit})"
        )


class Bench:
    """Everything runs against one broker with one partition."""

    def __init__(self, bootstrap: str, folder: Path, pairs: int = PAIRS) -> None:
        self._bootstrap, self._folder, self._pairs = bootstrap, folder, pairs
        self._target: dict[str, Any] = {
            "name": "kafka",
            "driver": "kafka_confluent",
            "settings": {"bootstrap": bootstrap},
        }
        self._admin = open_driver(Target.model_validate(self._target), {})

    def produce(self, size: int, messages: int) -> Ratio:
        ratio = Ratio(f"produce {size} B against ProducerPerformance", "≥ 1.3")
        warm_up = messages // 10

        def ours(topic: str) -> float:
            run = run_agents(
                self._folder,
                {**self._target, "producer_client": {"batch.size": BATCH_BYTES, "linger.ms": 5}},
                {
                    "messages": messages,
                    "warm_up_messages": warm_up,
                    "consumers": 0,
                    "acks": "1",
                    "message": {"size": size},
                    "topics": {"name": topic},
                },
            )
            sent, acked = column(run, "sends", "sent_ns"), column(run, "sends", "acked_ns")
            if len(acked) != messages + warm_up or np.isnan(acked.astype(float)).any():
                raise RuntimeError(f"{len(acked)} of {messages + warm_up} messages were recorded as acked")
            return float(messages / (acked.max() - np.sort(sent)[warm_up]) * 1e9)

        def theirs(topic: str) -> float:
            self._admin.prepare_topics(Topics(name=topic), (topic,))
            try:
                return producer_performance(self._bootstrap, topic, size, messages, BATCH_BYTES, warm_up)
            finally:
                self._admin.remove_topics([topic])

        return in_pairs(self._pairs, ratio, ours, theirs)

    def consume(self, size: int, messages: int) -> Ratio:
        ratio = Ratio(f"consume {size} B against ConsumerPerformance", "≥ 1.0")
        topic = f"bench-{uuid.uuid4().hex[:8]}"
        load = {"messages": messages, "message": {"size": size}, "topics": {"name": topic}}
        filler = {**self._target, "producer_client": {"batch.size": BATCH_BYTES, "linger.ms": 5}}
        run_agents(self._folder, filler, {**load, "consumers": 0}, keep_topic=True)

        def ours(_: str) -> float:
            reader = {**self._target, "consumer_client": READ_AHEAD}
            run = run_agents(self._folder, reader, load, keep_topic=True, only_read=True)
            state, received = (
                column(run, "receives", "state"),
                np.sort(column(run, "receives", "received_ns")),
            )
            if len(received) < messages or state.any():
                raise RuntimeError(
                    f"{len(received)} of {messages} messages came, {int((state > 0).sum())} damaged"
                )
            return float((messages - 1) / (received[messages - 1] - received[0]) * 1e9)

        try:
            return in_pairs(
                self._pairs, ratio, ours, lambda _: consumer_performance(self._bootstrap, topic, messages)
            )
        finally:
            self._admin.remove_topics([topic])

    def latency(self, rate: int, seconds: int) -> Ratio:
        ratio = Ratio(f"median latency at {rate:,}/s against a Java twin", "≤ 1.0")
        messages, warm_up, size = rate * seconds, rate * 3, 700

        def ours(topic: str) -> float:
            latencies, _ = self._own_latency(topic, rate, messages, warm_up, size)
            return float(np.median(latencies))

        def theirs(topic: str) -> float:
            self._admin.prepare_topics(Topics(name=topic), (topic,))
            try:
                return statistics.median(latency_twin(self._bootstrap, topic, size, rate, messages, warm_up))
            finally:
                self._admin.remove_topics([topic])

        return in_pairs(self._pairs, ratio, ours, theirs)

    def schedule_lag_p99_ms(self, rate: int, seconds: int) -> float:
        _, lag = self._own_latency(f"bench-{uuid.uuid4().hex[:8]}", rate, rate * seconds, rate, 700)
        return float(np.quantile(lag, 0.99))

    def _own_latency(self, topic: str, rate: int, messages: int, warm_up: int, size: int) -> tuple[Any, Any]:
        run = run_agents(
            self._folder,
            {
                **self._target,
                "producer_client": {"linger.ms": 0},
                "consumer_client": {"fetch.min.bytes": 1, "fetch.wait.max.ms": 100},
            },
            {
                "messages": messages,
                "warm_up_messages": warm_up,
                "rate": rate,
                "acks": "1",
                "message": {"size": size},
                "topics": {"name": topic},
            },
        )
        intended, sent = column(run, "sends", "intended_ns"), column(run, "sends", "sent_ns")
        sequence, received = column(run, "receives", "sequence"), column(run, "receives", "received_ns")
        if len(received) != messages + warm_up:
            raise RuntimeError(f"{len(received)} of {messages + warm_up} messages came")
        order = np.argsort(column(run, "sends", "sequence"))
        intended, sent = intended[order], sent[order]
        latency_ms = (received - intended[sequence]) / 1e6
        return latency_ms[sequence >= warm_up], (sent - intended)[warm_up:] / 1e6


def in_pairs(pairs: int, ratio: Ratio, ours: Callable[[str], float], theirs: Callable[[str], float]) -> Ratio:
    """ABBA: whoever goes first gains nothing by it. The first pair only warms the broker."""
    for pair in range(pairs + 1):
        sides = [(ratio.ours, ours), (ratio.theirs, theirs)]
        for figures, measure in sides if pair % 2 else reversed(sides):
            figure = measure(f"bench-{uuid.uuid4().hex[:8]}")
            if pair:
                figures.append(figure)
    return ratio
