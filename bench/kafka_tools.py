"""Kafka's own performance tools, and a Java twin of our latency test, from the locked jars."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import classpath, fetch
from streamgauge.jvm.java import find_java

_TOOLS = "org.apache.kafka.tools"
_DEADLINE_S = 600


def producer_performance(
    bootstrap: str, topic: str, size: int, messages: int, batch_bytes: int, warm_up: int
) -> float:
    """Messages a second, by its own account, after its warm-up."""
    printed = _java(
        f"{_TOOLS}.ProducerPerformance",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--num-records", str(messages + warm_up)),
        *("--record-size", str(size), "--throughput", "-1", "--warmup-records", str(warm_up)),
        *("--command-property", f"batch.size={batch_bytes}", "--command-property", "acks=1"),
        *("--command-property", "linger.ms=5"),
    )
    rates = re.findall(r"([\d.]+) records/sec", printed)
    return float(rates[-1])


def consumer_performance(bootstrap: str, topic: str, messages: int) -> float:
    """Messages a second while fetching: its own figure without the time to join its group."""
    printed = _java(
        f"{_TOOLS}.ConsumerPerformance",
        *("--bootstrap-server", bootstrap, "--topic", topic, "--num-records", str(messages)),
        *("--timeout", "60000"),
    )
    names, values = printed.strip().splitlines()[-2:]
    row = dict(zip(names.split(", "), values.split(", "), strict=True))
    return float(row["fetch.nMsg.sec"])


def latency_twin(
    bootstrap: str, topic: str, size: int, rate: int, messages: int, warm_up: int
) -> list[float]:
    """Latencies in ms from the intended time, by a plain Java producer and consumer."""
    classes = compiled(Path(__file__).parent / "java", fetch("kafka"))
    printed = _java(
        "LatencyTwin", bootstrap, topic, str(size), str(rate), str(messages), str(warm_up), extra=str(classes)
    )
    return [int(line) / 1e6 for line in printed.split()]


def _java(main: str, *arguments: str, extra: str = "") -> str:
    jars = classpath(fetch("kafka"))
    done = subprocess.run(
        [
            str(find_java().executable),
            *("-Xmx1g", "-XX:+UseG1GC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
            *("-cp", f"{extra}:{jars}" if extra else jars, main, *arguments),
        ],
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{main}: {done.stderr.strip()[-500:]} {done.stdout.strip()[-500:]}")
    return done.stdout
