"""The topic through which agents tell their figures while a run goes on, and who writes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Producer

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.kafka.topics import LOGGER, KafkaTopics
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_KEPT_MS = 600_000
_MESSAGE_DEADLINE_MS = 5_000
_THREADS = Path("/proc/self/task")


def metrics_topic(run: str) -> str:
    """Of one run: whoever ended first would delete what another still reads."""
    return f"_streamgauge_metrics-{run}"


def metrics_target(bootstrap: str) -> Target:
    """Whoever removes the topic of a run that was killed has only this."""
    return Target(name="live", driver="kafka_confluent", settings={"bootstrap": bootstrap})


class MetricsTopic:
    """A run's topic on one cluster: one partition, which forgets after ten minutes."""

    def __init__(self, bootstrap: str, run: str, deadline_s: float) -> None:
        self.bootstrap, self.name = bootstrap, metrics_topic(run)
        self._topics = KafkaTopics({"bootstrap.servers": bootstrap})
        self._topics.check_reachable(deadline_s)
        config = {"retention.ms": str(_KEPT_MS), "segment.ms": str(_KEPT_MS)}
        wanted = Topics(name=self.name, config=config)
        self._made = self._topics.prepare(wanted, (self.name,))
        self.end_offset = self._topics.end_offsets((self.name,), 1)[0, 0]
        """After the last message of a run that was ended and is resumed."""

    def remove(self) -> None:
        """Only if it was made here."""
        self._topics.remove(self._made)


class MetricsSender:
    """One client that sends a small message now and then, and knows what that costs this process."""

    def __init__(self, bootstrap: str, run: str, deadline_s: float) -> None:
        """Connects, or says why not; make it while nobody else starts threads in this process."""
        before = _threads()
        self.sent = self.delivered = 0
        self.error = ""
        self._topic = metrics_topic(run)
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "client.id": "streamgauge-metrics",
            "acks": "1",
            "linger.ms": 0,
            "message.timeout.ms": _MESSAGE_DEADLINE_MS,
            "enable.metrics.push": False,
            "error_cb": self._note_error,
        }
        try:
            self._producer = Producer(settings, logger=LOGGER)
            self._producer.list_topics(self._topic, timeout=deadline_s)
        except KafkaException as error:
            why = self.error or error.args[0].str()
            raise Unreachable(f"Kafka at {bootstrap} did not answer within {deadline_s:g} s: {why}") from None
        self._client_threads = _threads() - before

    def send(self, key: str, value: bytes) -> None:
        """Best effort; never waits."""
        self.sent += 1
        try:
            self._producer.produce(self._topic, value, key, on_delivery=self._note_delivery)
        except (BufferError, KafkaException) as error:
            self.error = str(error)
        self._producer.poll(0)

    def close(self, deadline_s: float) -> None:
        """Wait a little for what is on its way."""
        self._producer.flush(deadline_s)

    def cpu_ns(self) -> int:
        """What the client's own threads have used; 0 where the system does not tell."""
        return sum(_thread_cpu_ns(thread) for thread in self._client_threads)

    def _note_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            self.delivered += 1
        else:
            self.error = error.str()

    def _note_error(self, error: Any) -> None:
        self.error = error.str()


def _threads() -> set[int]:
    try:
        return {int(folder.name) for folder in _THREADS.iterdir()}
    except OSError:
        return set()


def _thread_cpu_ns(thread: int) -> int:
    try:
        return int((_THREADS / str(thread) / "schedstat").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return 0
