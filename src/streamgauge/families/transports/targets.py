"""Transports by name: which driver, with which settings, on which system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.families.transports.env_file import LIBRDKAFKA, EnvFile
from streamgauge.flags.shipped_targets import shipped_target

_BOTH_WAYS = {"aeron": ("aeron-ipc", "aeron-udp")}


@dataclass(frozen=True)
class TransportChoices:
    engine: str
    bootstrap: str | None
    aeron_directory: str | None
    aeron_profile: str
    aeron_executable: str | None
    """The C media driver; None: the Java one."""
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


def harness_target() -> dict[str, Any]:
    """A ring in memory instead of a transport: what all the rest costs."""
    return shipped_target(__file__, "harness")


def _kafka(choices: TransportChoices) -> dict[str, Any]:
    env, made = choices.env, shipped_target(__file__, f"kafka-{choices.engine}")
    names = LIBRDKAFKA if choices.engine == "python" else {}
    bootstrap = choices.bootstrap or env.bootstrap
    made["settings"] |= env.kafka_settings
    made["producer_client"] = env.kafka_client("producer", names)
    made["consumer_client"] = {**made.get("consumer_client", {}), **env.kafka_client("consumer", names)}
    if bootstrap is not None:
        made["settings"]["bootstrap"] = bootstrap
    else:
        made["system"] = {}
    return made


def _aeron(transport: str) -> Callable[[TransportChoices], dict[str, Any]]:
    def made(choices: TransportChoices) -> dict[str, Any]:
        env, target = choices.env, shipped_target(__file__, "aeron")
        target["settings"] = {"transport": transport}
        if env.aeron_channel is not None and env.aeron_channel.startswith(f"aeron:{transport}?"):
            target["settings"]["channel"] = env.aeron_channel
        directory = choices.aeron_directory or env.aeron_directory
        if directory is not None:
            target["settings"]["directory"] = directory
            del target["system"]
        else:
            target["system"] |= {"profile": choices.aeron_profile, "properties": env.aeron_properties}
            if choices.aeron_executable is not None:
                target["system"]["executable"] = choices.aeron_executable
        return target

    return made


def _as_shipped(name: str) -> Callable[[TransportChoices], dict[str, Any]]:
    return lambda choices: shipped_target(__file__, name)


_TARGETS: dict[str, Callable[[TransportChoices], dict[str, Any]]] = {
    "kafka": _kafka,
    "aeron-ipc": _aeron("ipc"),
    "aeron-udp": _aeron("udp"),
    **{name: _as_shipped(name) for name in ("nats", "rabbitmq", "redis", "zeromq")},
}
_IN_JVM = {"kafka", "aeron-ipc", "aeron-udp"}
