"""Transports by name: which driver, with which settings, on which system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.families.transports.env_file import EnvFile

HARNESS: dict[str, Any] = {"name": "harness", "driver": "simulated", "settings": {"time": "real"}}
_BOTH_WAYS = {"aeron": ("aeron-ipc", "aeron-udp")}
_KAFKA_DRIVERS = {"python": "kafka_confluent", "jvm": "kafka_java"}


@dataclass(frozen=True)
class TransportChoices:
    engine: str
    bootstrap: str | None
    aeron_directory: str | None
    aeron_profile: str
    env: EnvFile


def chosen_names(text: str) -> list[str]:
    """Each once, in the order given."""
    found: dict[str, None] = {}
    for item in text.split(","):
        name = item.strip().lower()
        if not name:
            continue
        for one in _BOTH_WAYS.get(name, (name,)):
            if one not in _TARGETS:
                allowed = ", ".join([*_BOTH_WAYS, *_TARGETS])
                raise BadInput(f"--transport {name}: there is no such transport; allowed: {allowed}")
            found[one] = None
    if not found:
        raise BadInput(f"--transport: names none; allowed: {', '.join([*_BOTH_WAYS, *_TARGETS])}")
    return list(found)


def engine_for(names: list[str]) -> str:
    """The transport itself where all have that; else what a Python application sees of each."""
    return "jvm" if all(name in _IN_JVM for name in names) else "python"


def targets(names: list[str], choices: TransportChoices) -> list[dict[str, Any]]:
    return [{"name": name, **_TARGETS[name](choices)} for name in names]


def _kafka(choices: TransportChoices) -> dict[str, Any]:
    env, driver = choices.env, _KAFKA_DRIVERS[choices.engine]
    bootstrap = choices.bootstrap or env.bootstrap
    # Send at once, and let the broker answer at once.
    settings = {"linger_ms": 0, "fetch_min_bytes": 1, "fetch_max_wait_ms": 100, **env.kafka_settings}
    made: dict[str, Any] = {
        "driver": driver,
        "settings": settings,
        "producer_client": env.kafka_client("producer", driver),
        "consumer_client": env.kafka_client("consumer", driver),
    }
    if driver == "kafka_confluent":
        # Read on at once when everything read ahead has been used up: librdkafka would wait a second.
        made["consumer_client"].setdefault("fetch.queue.backoff.ms", 2)
    if bootstrap is not None:
        made["settings"]["bootstrap"] = bootstrap
    else:
        made["system"] = {"kind": "kafka_cluster"}
    return made


def _aeron(transport: str) -> Callable[[TransportChoices], dict[str, Any]]:
    def made(choices: TransportChoices) -> dict[str, Any]:
        env = choices.env
        settings: dict[str, Any] = {"transport": transport}
        if env.aeron_channel is not None and env.aeron_channel.startswith(f"aeron:{transport}?"):
            settings["channel"] = env.aeron_channel
        directory = choices.aeron_directory or env.aeron_directory
        if directory is not None:
            return {"driver": "aeron", "settings": {**settings, "directory": directory}}
        system = {
            "kind": "aeron_media_driver",
            "profile": choices.aeron_profile,
            "properties": env.aeron_properties,
        }
        return {"driver": "aeron", "settings": settings, "system": system}

    return made


_TARGETS: dict[str, Callable[[TransportChoices], dict[str, Any]]] = {
    "kafka": _kafka,
    "aeron-ipc": _aeron("ipc"),
    "aeron-udp": _aeron("udp"),
    "nats": lambda choices: {"driver": "nats_jetstream", "system": {"kind": "nats_server"}},
    "rabbitmq": lambda choices: {"driver": "rabbitmq_streams", "system": {"kind": "rabbitmq_server"}},
    "redis": lambda choices: {"driver": "redis_streams", "system": {"kind": "redis_server"}},
    "zeromq": lambda choices: {"driver": "zeromq"},
}
_IN_JVM = {"kafka", "aeron-ipc", "aeron-udp"}
