"""Workload and driver files of the OpenMessaging Benchmark, run as they are.

What has no equivalent here is said in a line, never ignored in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput

_TELLING = frozenset({"producerRate", "partitionsPerTopic", "producersPerTopic", "testDurationMinutes"})
"""Of these a workload has at least two, and no file of ours has any."""
_KNOWN = {
    "name",
    "topics",
    "partitionsPerTopic",
    "messageSize",
    "payloadFile",
    "useRandomizedPayloads",
    "randomBytesRatio",
    "randomizedPayloadPoolSize",
    "keyDistributor",
    "subscriptionsPerTopic",
    "consumerPerSubscription",
    "producersPerTopic",
    "producerRate",
    "consumerBacklogSizeGB",
    "backlogDrainRatio",
    "testDurationMinutes",
    "warmupDurationMinutes",
    "logIntervalMillis",
}
_USUAL_MINUTES = 5
_KEYS = 100
_DRIVER_FIELDS = {
    "name",
    "driverClass",
    "replicationFactor",
    "topicConfig",
    "commonConfig",
    "producerConfig",
    "consumerConfig",
    "reset",
}
_KAFKA = "KafkaBenchmarkDriver"
_CLASSES = ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer")
_LEFT_OUT = {
    **dict.fromkeys(_CLASSES, "values are bytes here"),
    "default.api.timeout.ms": "librdkafka has no such setting",
}
"""What OMB's own driver files have for Java's client alone."""
_KIB = 1024
_MOST_COMPRESSIBLE = 100.0


@dataclass(frozen=True)
class OmbRun:
    """A workload of ours, as its file would have it, and what had to be said."""

    content: dict[str, Any]
    notes: tuple[str, ...]


def is_omb_workload(content: Mapping[str, Any]) -> bool:
    return len(_TELLING & content.keys()) >= 2 and "targets" not in content


def omb_run(
    workload: Mapping[str, Any],
    source: Path,
    driver: Mapping[str, Any] | None,
    usual_target: Mapping[str, Any],
) -> OmbRun:
    """`driver`: OMB's driver file; without one the target is the usual one."""
    if strange := sorted(set(workload) - _KNOWN):
        raise BadInput(f"{source}: {strange[0]}: unknown field of an OpenMessaging Benchmark workload")
    notes: list[str] = []
    load, topics = _load(workload, source, notes)
    target = dict(usual_target)
    if driver is not None:
        target, of_topics = _target(driver, usual_target, notes)
        topics |= of_topics
    load["topics"] = topics
    if acks := target.pop("acks", None):
        load["acks"] = acks
    if compression := target.pop("compression", None):
        load["compression"] = compression
    content = {
        "kind": "e2e",
        "name": _plain(str(workload.get("name") or source.stem)),
        "targets": [target],
        "load": load,
    }
    return OmbRun(content, tuple(f"{source}: {note}" for note in notes))


def _load(given: Mapping[str, Any], source: Path, notes: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    topics = _count(given, "topics", 1, source)
    producers = _count(given, "producersPerTopic", 1, source) * topics
    subscriptions = _count(given, "subscriptionsPerTopic", 1, source)
    consumers = _count(given, "consumerPerSubscription", 1, source) * topics
    if subscriptions > 1:
        notes.append(
            f"subscriptionsPerTopic {subscriptions}: one subscription is run, a message is received once "
            "here; a fan-out (streamgauge fanout) measures several"
        )
    minutes = given.get("testDurationMinutes", _USUAL_MINUTES)
    warm_up = given.get("warmupDurationMinutes", 1)
    rate = given.get("producerRate", 0)
    load: dict[str, Any] = {
        "producers": producers,
        "consumers": consumers if subscriptions else 0,
        "duration": f"{_minutes(minutes, 'testDurationMinutes', source):g}s",
        "rate": float(rate) if isinstance(rate, (int, float)) and rate > 0 else "unlimited",
        "warm_up_messages": "auto",
        "warm_up_limit": f"{max(60.0, _minutes(warm_up, 'warmupDurationMinutes', source)):g}s",
        "message": _message(given, source, notes),
        "subscription": "group",
    }
    if not subscriptions:
        load["warm_up_messages"] = 0
    notes.append(
        f"warmupDurationMinutes {warm_up:g}: measuring begins when the load is at rest, not by the clock"
    )
    if load["rate"] == "unlimited":
        notes.append(
            "producerRate 0: OMB searches for the highest rate; here it goes as fast as it can, "
            "and streamgauge limit searches"
        )
    if given.get("consumerBacklogSizeGB"):
        notes.append("consumerBacklogSizeGB: no backlog is built up here: consumers read all the time")
    if "backlogDrainRatio" in given:
        notes.append("backlogDrainRatio: no backlog is built up here, so none is drained")
    if "logIntervalMillis" in given:
        notes.append("logIntervalMillis: figures are always by second")
    return load, {"count": topics, "partitions": _count(given, "partitionsPerTopic", 1, source)}


def _message(given: Mapping[str, Any], source: Path, notes: list[str]) -> dict[str, Any]:
    message: dict[str, Any] = {"size": _count(given, "messageSize", 1024, source)}
    if given.get("useRandomizedPayloads"):
        message["compressibility"] = _compressibility(given, source, notes)
    elif given.get("payloadFile"):
        notes.append(
            f"payloadFile {given['payloadFile']}: messages are random bytes of the same size, each with "
            "an id and a checksum"
        )
    keys = str(given.get("keyDistributor", "NO_KEY"))
    kinds = {"NO_KEY": "none", "KEY_ROUND_ROBIN": "round_robin", "RANDOM_NANO": "random"}
    if keys not in kinds:
        raise BadInput(f"{source}: keyDistributor: {keys!r} is not known; allowed: {', '.join(kinds)}")
    if kinds[keys] != "none":
        message["keys"] = {"kind": kinds[keys], "of": _KEYS}
        notes.append(f"keyDistributor {keys}: there are {_KEYS} keys")
    return message


def _compressibility(given: Mapping[str, Any], source: Path, notes: list[str]) -> float:
    """There so many bytes of a message are random, and the others zero: all of them, if nothing is said."""
    ratio = given.get("randomBytesRatio", 0.0)
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 <= ratio <= 1:
        raise BadInput(f"{source}: randomBytesRatio: must be a number from 0 to 1, not {ratio!r}")
    if "randomizedPayloadPoolSize" in given:
        notes.append(
            f"randomizedPayloadPoolSize {given['randomizedPayloadPoolSize']}: no message is sent twice here: "
            "each has an id and a checksum of its own before its body"
        )
    if ratio * _MOST_COMPRESSIBLE < 1:
        notes.append(
            f"randomBytesRatio {ratio:g}: messages are as compressible as they can be here: "
            f"{_MOST_COMPRESSIBLE:g}-fold at most, as their ids and checksums differ"
        )
        return _MOST_COMPRESSIBLE
    return 0.0 if ratio == 1 else round(1 / ratio, 3)


def _target(
    driver: Mapping[str, Any], usual: Mapping[str, Any], notes: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A Kafka driver file. Java's names of settings are librdkafka's, but for a few."""
    name = str(driver.get("driverClass", ""))
    if not name.endswith(_KAFKA):
        raise BadInput(
            f"driverClass {name!r}: only OMB's Kafka driver ({_KAFKA}) is taken; use --target for others"
        )
    if strange := sorted(set(driver) - _DRIVER_FIELDS):
        raise BadInput(f"{strange[0]}: unknown field of an OpenMessaging Benchmark driver")
    shared, producer, consumer = (
        dict(_properties(driver.get(field) or "", field))
        for field in ("commonConfig", "producerConfig", "consumerConfig")
    )
    target: dict[str, Any] = {**usual, "name": _plain(str(driver.get("name") or "kafka"))}
    if bootstrap := shared.pop("bootstrap.servers", None):
        target["settings"] = {**target.get("settings", {}), "bootstrap": bootstrap}
        target.pop("system", None)
    if acks := producer.pop("acks", None):
        target["acks"] = "all" if acks in ("all", "-1") else acks
    if compression := producer.pop("compression.type", None):
        target["compression"] = compression
    for field, settings in (("client", shared), ("producer_client", producer), ("consumer_client", consumer)):
        for setting in sorted(settings.keys() & _LEFT_OUT.keys()):
            notes.append(f"{setting}: left out, {_LEFT_OUT[setting]}")
            del settings[setting]
        if "buffer.memory" in settings:
            settings["queue.buffering.max.kbytes"] = str(int(settings.pop("buffer.memory")) // _KIB)
        if settings:
            target[field] = {**target.get(field, {}), **settings}
    if driver.get("reset"):
        notes.append("reset: topics are made for the run and deleted afterwards; others are left alone")
    topics: dict[str, Any] = {}
    if "replicationFactor" in driver:
        topics["replicas"] = driver["replicationFactor"]
    if config := dict(_properties(driver.get("topicConfig") or "", "topicConfig")):
        topics["config"] = config
    return target, topics


def _properties(text: Any, field: str) -> Iterator[tuple[str, str]]:
    for line in str(text).splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            name, sign, value = line.partition("=")
            if not sign:
                raise BadInput(f"{field}: {line.strip()!r} is not name=value")
            yield name.strip(), value.strip()


def _count(given: Mapping[str, Any], name: str, usual: int, source: Path) -> int:
    value = given.get(name, usual)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadInput(f"{source}: {name}: must be a whole number, not {value!r}")
    return value


def _minutes(value: Any, name: str, source: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise BadInput(f"{source}: {name}: must be a number of minutes, not {value!r}")
    return float(value) * 60


def _plain(name: str) -> str:
    """Letters that a name of ours may have."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return "-".join(part for part in kept.split("-") if part)[:60] or "omb"
