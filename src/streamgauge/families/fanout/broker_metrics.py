"""What brokers on other hosts tell of themselves: Prometheus's text over HTTP, asked once a second.

In a thread of its own: who does not answer must not hold up looking at the others.
"""

from __future__ import annotations

import math
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from streamgauge.agents.sampler import INTERVAL_S, Told
from streamgauge.core.clock import now_ns
from streamgauge.core.errors import BadInput
from streamgauge.families.fanout.names import TOLD

_ASK_DEADLINE_S = 3.0
_LARGEST_BYTES = 16 << 20
_CPU = "process_cpu_seconds_total"
_MEMORY = ("process_resident_memory_bytes", "jvm_memory_used_bytes", "jvm_memory_bytes_used")
"""The first that there is; of Java's, all areas together."""
_SENT = ("kafka_server_brokertopicmetrics_bytesout_total",)
_RECEIVED = ("kafka_server_brokertopicmetrics_bytesin_total",)
_LINE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?\s*")


class BrokerMetrics:
    """One broker; `latest` is what it told last."""

    def __init__(self, url: str) -> None:
        self.url, self.latest = url, asked(url)

    @property
    def place(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def ask(self) -> None:
        try:
            self.latest = asked(self.url)
        except BadInput:
            return  # it has no sample then; that is seen where samples are counted


@contextmanager
def asking(urls: Sequence[str]) -> Iterator[dict[str, BrokerMetrics]]:
    """By the name that each has in the samples, asked until the block ends."""
    asked_ones = [BrokerMetrics(url) for url in urls]
    is_over = threading.Event()

    def ask(one: BrokerMetrics) -> None:
        while not is_over.wait(INTERVAL_S):
            one.ask()

    threads = [
        threading.Thread(target=ask, args=(one,), name="broker-metrics", daemon=True) for one in asked_ones
    ]
    for thread in threads:
        thread.start()
    try:
        yield {f"broker-{number} ({TOLD} {one.place})": one for number, one in enumerate(asked_ones, 1)}
    finally:
        is_over.set()
        for thread in threads:
            thread.join(_ASK_DEADLINE_S)


def asked(url: str) -> Told:
    """What a broker tells now; BadInput says why it tells nothing, or not enough."""
    try:
        with urllib.request.urlopen(url, timeout=_ASK_DEADLINE_S) as answer:
            text = answer.read(_LARGEST_BYTES).decode(errors="replace")
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise BadInput(f"--broker-metrics {url}: cannot be read: {error}") from None
    told = _sums(text)
    memory = next((told[name] for name in _MEMORY if name in told), None)
    if _CPU not in told or memory is None:
        missing = _CPU if _CPU not in told else _MEMORY[0]
        raise BadInput(
            f"--broker-metrics {url}: has no {missing}; it is the address of Prometheus's text, as in "
            "http://broker:7071/metrics of its JMX exporter"
        )
    return Told(now_ns(), told[_CPU], int(memory), _whole(told, _SENT), _whole(told, _RECEIVED))


def _sums(text: str) -> Mapping[str, float]:
    """By name. What is told for each topic and for all of them is taken for all."""
    alone: dict[str, float] = {}
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or 'topic="' in (found["labels"] or ""):
            continue
        try:
            value = float(found["value"])
        except ValueError:
            continue
        if math.isfinite(value):
            alone[found["name"]] = alone.get(found["name"], 0.0) + value
    return alone


def _whole(told: Mapping[str, float], names: Sequence[str]) -> int | None:
    return next((int(told[name]) for name in names if name in told), None)
