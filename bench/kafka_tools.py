"""Kafka's own performance tools, and a Java twin of our latency test, from the locked jars.

They get what ours gets: payloads from a pool, the same batches, buffers, requests in flight and read-ahead,
the same timer slack, and as long to become warm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.steady import WINDOW_S, Steady, steady_part
from bench.watched import ProcessWatch, WatchedCommand
from streamgauge.jvm.class_archive import FIRST_WITH_PROFILES
from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import find_java

_TOOLS = "org.apache.kafka.tools"
_DEADLINE_S = 900
_POOL_COUNT = 4096
"""As many bodies as ours has of 1 KiB; of 100 B ours has more, and takes them in turn."""
_WINDOW = re.compile(r"^(\d+) records sent, .* ms max latency\.$")

# By their own defaults: Java's 32 MiB and 5, librdkafka's 1 GiB and a million.
BUFFER_BYTES, IN_FLIGHT, BATCH_BYTES, LINGER_MS = 64 * 1024**2, 5, 131_072, 5
SOCKET_BYTES, POLL_RECORDS = 2 * 1024**2, 20_000

PRODUCING = {
    "acks": "1",
    "batch.size": BATCH_BYTES,
    "linger.ms": LINGER_MS,
    "buffer.memory": BUFFER_BYTES,
    "max.in.flight.requests.per.connection": IN_FLIGHT,
    "enable.idempotence": "false",
    "send.buffer.bytes": SOCKET_BYTES,
    "receive.buffer.bytes": SOCKET_BYTES,
}
CONSUMING = {
    "max.poll.records": POLL_RECORDS,
    "send.buffer.bytes": SOCKET_BYTES,
    # Neither client checks the broker's sums; ours checks one of its own in every message.
    "check.crcs": "false",
}


@dataclass(frozen=True)
class Ran:
    """One side's run, once its rate was flat."""

    steady: Steady
    cpu_us: float
    """CPU a message, of the client's process, from when its rate is flat to its end: what it packs and writes
    after the last message is inside."""
    most_mib: float
    """Memory of that process, at its highest."""

    @classmethod
    def of(cls, steady: Steady, watch: ProcessWatch) -> Ran:
        cpu_s = watch.cpu_s_since(steady.begin_s)
        return cls(steady, cpu_s / steady.count * 1e6, watch.most_bytes / 2**20)


def payload_file(folder: Path, size: int) -> Path:
    """Lines of that size: `--record-size` would draw a random letter a byte on the thread that sends."""
    path = folder / f"payloads-{size}"
    letters = np.random.default_rng(size).integers(ord("A"), ord("Z") + 1, (_POOL_COUNT, size), np.uint8)
    path.write_bytes(b"\n".join(bytes(row) for row in letters) + b"\n")
    return path


def producer_performance(bootstrap: str, topic: str, payloads: Path, messages: int) -> Ran:
    """By the records that it says were acked, window by window."""
    ran = _java(
        f"{_TOOLS}.ProducerPerformance",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--num-records", str(messages)),
        *("--payload-file", str(payloads), "--throughput", "-1", "--reporting-interval", _interval_ms()),
        *("--command-property", *_properties(PRODUCING)),
    )
    windows = [(at_s, int(found[1])) for at_s, line in ran.lines if (found := _WINDOW.match(line))]
    counts = np.cumsum([count for _, count in windows]).tolist()
    return Ran.of(steady_part([at_s for at_s, _ in windows], counts), ran.watch)


def consumer_performance(bootstrap: str, topic: str, messages: int, fetch_bytes: int) -> Ran:
    """By the records that it says it has, window by window."""
    properties = [word for each in _properties(CONSUMING) for word in ("--command-property", each)]
    ran = _java(
        f"{_TOOLS}.ConsumerPerformance",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--num-records", str(messages)),
        *("--fetch-size", str(fetch_bytes), "--socket-buffer-size", str(SOCKET_BYTES)),
        *("--show-detailed-stats", "--reporting-interval", _interval_ms(), "--timeout", "60000"),
        *properties,
    )
    named = next(line for _, line in ran.lines if "data.consumed.in.nMsg" in line).split(", ")
    rows = [(at_s, line.split(", ")) for at_s, line in ran.lines if line.count(", ") == len(named) - 1]
    place = named.index("data.consumed.in.nMsg")
    seen = [(at_s, int(row[place])) for at_s, row in rows if row[place].isdigit() and row[place] != "0"]
    return Ran.of(steady_part([at_s for at_s, _ in seen], [count for _, count in seen]), ran.watch)


def latency_twin(
    bootstrap: str, topic: str, size: int, rate: int, messages: int, warm_up: int
) -> tuple[NDArray[np.float64], ProcessWatch]:
    """Latencies in ms from the intended time, by a plain Java producer and consumer; none may be missing."""
    classes = compiled(Path(__file__).parent / "java", fetch("kafka"))
    figures = map(str, (size, rate, messages, warm_up))
    ran = _java("LatencyTwin", bootstrap, topic, *figures, extra=str(classes))
    latencies = np.array([int(line) for _, line in ran.lines]) / 1e6
    if len(latencies) != messages:
        raise RuntimeError(f"the twin received {len(latencies)} of {messages} messages")
    return latencies, ran.watch


def _properties(wanted: Mapping[str, object]) -> list[str]:
    return [f"{name}={value}" for name, value in wanted.items()]


def _interval_ms() -> str:
    return str(int(WINDOW_S * 1000))


def _java(main: str, *arguments: str, extra: str = "") -> WatchedCommand:
    jars = classpath(fetch("kafka"))
    command = [
        # The one that the broker runs on: the newest there is.
        str(find_java(preferred=FIRST_WITH_PROFILES).executable),
        *("-Xmx1g", "-XX:+UseG1GC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
        *("-cp", f"{extra}:{jars}" if extra else jars, main, *arguments),
    ]
    return WatchedCommand(command, _DEADLINE_S)
