"""Transport-bench's own settings file: `transportLoadTest.*`, `kafka.*`, `aeron.*`, one `key=value` a line.

What is wrong with a transport's own keys keeps only that transport from being measured.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.core.units import parse_count

_BOOLEANS = {"true": True, "false": False}
_IDLE = "org.agrona.concurrent."
_IDLE_STRATEGIES = {
    "noop": f"{_IDLE}NoOpIdleStrategy",
    "busyspin": f"{_IDLE}BusySpinIdleStrategy",
    "spin": f"{_IDLE}BusySpinIdleStrategy",
    "yielding": f"{_IDLE}YieldingIdleStrategy",
    "yield": f"{_IDLE}YieldingIdleStrategy",
    "backoff": f"{_IDLE}BackoffIdleStrategy",
}
_THREADING_MODES = ("DEDICATED", "SHARED_NETWORK", "SHARED", "INVOKER")
LIBRDKAFKA = {"buffer.memory": "queue.buffering.max.kbytes", "max.poll.records": None}
"""Its names of Java's settings; None: it has no such setting."""


@dataclass
class EnvFile:
    """What the file says, in streamgauge's terms."""

    transport: str | None = None
    rps: str | None = None
    warm_up: str | None = None
    iterations: str | None = None
    acks: str | None = None
    bootstrap: str | None = None
    topics: dict[str, Any] = field(default_factory=dict)
    kafka_settings: dict[str, Any] = field(default_factory=dict)
    client: dict[str, dict[str, Any]] = field(default_factory=lambda: {"producer": {}, "consumer": {}})
    aeron_channel: str | None = None
    aeron_directory: str | None = None
    aeron_embedded: bool = False
    aeron_properties: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    complaints: dict[str, str] = field(default_factory=dict)
    """By the first part of a key (`kafka`, `aeron`): what is wrong."""

    def complaint_of(self, transport: str) -> str | None:
        return self.complaints.get(transport.partition("-")[0])

    def kafka_client(self, role: str, names: Mapping[str, str | None]) -> dict[str, Any]:
        """Native settings; `names`: what the library calls them, where that is not what Java does."""
        renamed: dict[str, Any] = {}
        for name, value in self.client[role].items():
            known = names.get(name, name)
            if known is not None:
                renamed[known] = max(1, value // 1024) if known.endswith("kbytes") else value
        return renamed


def read_env_file(path: Path, over: EnvFile | None = None) -> EnvFile:
    """`over`: what holds where the file says nothing."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--env-file {path}: cannot be read: {error}") from None
    found = over or EnvFile()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in text.partition("="))
        where = f"{path}:{number}"
        if not equals or not key:
            raise BadInput(f"{where}: {text!r} is not key=value")
        try:
            _take(found, key, value)
        except ValueError as error:
            family = key.partition(".")[0]
            if family not in ("kafka", "aeron"):
                raise BadInput(f"{where}: {key}: {error}") from None
            found.complaints.setdefault(family, f"{where}: {key}: {error}")
    _settle_aeron(found)
    return found


def _take(found: EnvFile, key: str, value: str) -> None:
    key = _SHORT.get(key, key)
    if key not in _KEYS:
        near = difflib.get_close_matches(key, _KEYS, 1, 0.6)
        meant = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(_FAMILIES))}"
        raise ValueError(f"unknown key{meant}")
    _KEYS[key](found, value)


def _settle_aeron(found: EnvFile) -> None:
    """A driver that is not embedded is somebody else's, unless nobody is there: then it is not that one."""
    if found.aeron_embedded:
        found.aeron_directory = None


def _text(name: str) -> Callable[[EnvFile, str], None]:
    return lambda found, value: setattr(found, name, value)


def _count(name: str) -> Callable[[EnvFile, str], None]:
    return lambda found, value: setattr(found, name, str(_number(value)))


def _topic(name: str) -> Callable[[EnvFile, str], None]:
    return lambda found, value: found.topics.update({name: _number(value)})


def _retention(found: EnvFile, value: str) -> None:
    found.topics["config"] = {"retention.ms": str(_number(value))}


def _setting(name: str) -> Callable[[EnvFile, str], None]:
    return lambda found, value: found.kafka_settings.update({name: _number(value)})


def _native(role: str, name: str, read: Callable[[str], Any]) -> Callable[[EnvFile, str], None]:
    return lambda found, value: found.client[role].update({name: read(value)})


def _property(name: str, read: Callable[[str], Any]) -> Callable[[EnvFile, str], None]:
    return lambda found, value: found.aeron_properties.update({name: read(value)})


def _noted(why: str) -> Callable[[EnvFile, str], None]:
    def note(found: EnvFile, value: str) -> None:
        found.notes.append(why.format(value=value))

    return note


def _embedded(found: EnvFile, value: str) -> None:
    found.aeron_embedded = _boolean(value)


def _threads(found: EnvFile, value: str) -> None:
    if _number(value) > 1:
        raise ValueError(f"{value} threads: there is one producer; allowed: 0 or 1")


def _acks(found: EnvFile, value: str) -> None:
    found.acks = "all" if value == "-1" else _one_of("0", "1", "all")(value)


def _checked(read: Callable[[str], Any]) -> Callable[[EnvFile, str], None]:
    """Nothing comes of it here, but it must be what it should be."""

    def check(found: EnvFile, value: str) -> None:
        read(value)

    return check


def _number(value: str) -> int:
    """Also as people write it: 10K, 1M."""
    if value.startswith("-"):
        raise ValueError(f"{value} is below 0")
    try:
        return parse_count(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a whole number") from None


def _boolean(value: str) -> bool:
    if value.lower() not in _BOOLEANS:
        raise ValueError(f"{value!r} is neither true nor false")
    return _BOOLEANS[value.lower()]


def _one_of(*allowed: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in allowed:
            raise ValueError(f"{value!r}; allowed: {', '.join(allowed)}")
        return value

    return read


def _idle_strategy(value: str) -> str:
    name = value.lower().replace("idlestrategy", "").replace("_", "")
    if name not in _IDLE_STRATEGIES:
        raise ValueError(f"{value!r}; allowed: NoOp, BusySpin, Yielding, Backoff")
    return _IDLE_STRATEGIES[name]


def _filled(value: str) -> str:
    if not value:
        raise ValueError("is empty")
    return value


def _directory(found: EnvFile, value: str) -> None:
    found.aeron_directory = _filled(value)


def _channel(found: EnvFile, value: str) -> None:
    if not value.startswith(("aeron:ipc", "aeron:udp")):
        raise ValueError(f"{value!r}; allowed: aeron:ipc…, aeron:udp?…")
    found.aeron_channel = value


_KEYS: dict[str, Callable[[EnvFile, str], None]] = {
    "application.orderTransport": _text("transport"),
    "transportLoadTest.transport": _text("transport"),
    "transportLoadTest.warmUpIterations": _count("warm_up"),
    "transportLoadTest.iterations": _count("iterations"),
    "transportLoadTest.maxRpsLimit": _count("rps"),
    "transportLoadTest.sendThreadsCount": _threads,
    "kafka.bootstrapServers": _text("bootstrap"),
    "kafka.topic.name": lambda found, value: found.topics.update({"name": _filled(value)}),
    "kafka.topic.partitions": _topic("partitions"),
    "kafka.topic.replicationFactor": _topic("replicas"),
    "kafka.topic.retentionMs": _retention,
    "kafka.producers.acks": _acks,
    "kafka.producers.lingerMs": _setting("linger_ms"),
    "kafka.producers.batchSize": _setting("batch_size"),
    "kafka.producers.bufferMemory": _native("producer", "buffer.memory", _number),
    "kafka.consumers.idleStrategy": _noted(
        "kafka.consumers.idleStrategy={value}: a consumer waits in Kafka's own poll"
    ),
    "kafka.consumers.fetchMinBytes": _setting("fetch_min_bytes"),
    "kafka.consumers.fetchMaxWaitMs": _setting("fetch_max_wait_ms"),
    "kafka.consumers.maxPollIntervalMs": _native("consumer", "max.poll.interval.ms", _number),
    "kafka.consumers.maxPollRecords": _native("consumer", "max.poll.records", _number),
    "kafka.consumers.enableAutoCommit": _native("consumer", "enable.auto.commit", _boolean),
    "kafka.consumers.autoOffsetReset": _native(
        "consumer", "auto.offset.reset", _one_of("latest", "earliest", "none")
    ),
    "kafka.consumers.groupId": _noted(
        "kafka.consumers.groupId={value}: the consumer is given its partition, no group can keep it waiting"
    ),
    "kafka.consumers.sessionTimeoutMs": _native("consumer", "session.timeout.ms", _number),
    "kafka.consumers.heartbeatIntervalMs": _native("consumer", "heartbeat.interval.ms", _number),
    "aeron.mediaDriver.required": _checked(_boolean),
    "aeron.mediaDriver.embedded": _embedded,
    "aeron.mediaDriver.threadingMode": _property("aeron.threading.mode", _one_of(*_THREADING_MODES)),
    "aeron.mediaDriver.sender.idleStrategy": _property("aeron.sender.idle.strategy", _idle_strategy),
    "aeron.mediaDriver.receiver.idleStrategy": _property("aeron.receiver.idle.strategy", _idle_strategy),
    "aeron.mediaDriver.conductor.idleStrategy": _property("aeron.conductor.idle.strategy", _idle_strategy),
    "aeron.mediaDriver.dirName": _directory,
    "aeron.mediaDriver.deleteDirOnShutdown": _checked(_boolean),
    "aeron.channel": _channel,
}
_SHORT = {
    name: f"transportLoadTest.{name}"
    for name in ("transport", "warmUpIterations", "iterations", "maxRpsLimit", "sendThreadsCount")
}
"""As the benchmark's own page writes them, without what they are of."""
_FAMILIES = {f"{key.partition('.')[0]}.*" for key in _KEYS}
