"""What producers and consumers of `kafka_java` have in common: Java in this process, settings, counting."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import jpype

from streamgauge.core.errors import BadInput, CaseFailed, StreamgaugeError, Unreachable
from streamgauge.drivers.contract import SharedSetting
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.security import TOKEN_URL
from streamgauge.drivers.kafka.settings import Role
from streamgauge.jvm import embedded, jni_calls
from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import fetch

LOCK = "kafka-clients"
_ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
_CLOSE_MS = 5000
_SOURCES = Path(embedded.__file__).parent / "kafka"
_LOGGER = logging.getLogger("streamgauge.kafka_java")

_BYTES = "org.apache.kafka.common.serialization.ByteArray"
_INTEGER = "org.apache.kafka.common.serialization.Integer"
OWN_PRODUCER: dict[str, Any] = {
    "key.serializer": f"{_BYTES}Serializer",
    "value.serializer": f"{_BYTES}Serializer",
    # How long a client waits for a cluster that is not there; by default a minute.
    "max.block.ms": 15_000,
}
OWN_CONSUMER: dict[str, Any] = {
    "key.deserializer": f"{_BYTES}Deserializer",
    "value.deserializer": f"{_BYTES}Deserializer",
    "enable.auto.commit": False,
    "allow.auto.create.topics": False,
}
INTEGER_KEYS = {"key.serializer": f"{_INTEGER}Serializer"}
INTEGER_KEYS_BACK = {"key.deserializer": f"{_INTEGER}Deserializer"}


@lru_cache
def start_java(options: tuple[str, ...]) -> None:
    """Kafka's client and our few classes, in the one Java of this process.

    Once it runs, asking again costs nothing: making a client may be what is timed.
    """
    jars = fetch(LOCK)
    embedded.start([*jars, compiled(_SOURCES, jars)], options)
    embedded.before_exit(_close_all)


class JavaClient:
    """Settings, counters and the end of one producer or consumer; mixed into all of them."""

    def __init__(self, settings: ClientSettings, role: Role, *, count_calls: bool) -> None:
        self._settings = settings
        self.crossings = self.crossings_besides = 0
        """Two counts, each for one thread: adding to one from both would lose some."""
        self.config = _java_config(settings.native)
        self._in_force = _checked_once(self.config, settings.native, role)
        self._calls_before: int | None = _begin_to_count() if count_calls else None
        self._close_java: Callable[[int], None] = lambda timeout_ms: None

    def opened(self, close: Callable[[int], None]) -> None:
        """`close`: how to end the Java side, within so many milliseconds."""
        self._close_java = close
        _open_clients.add(self)

    def begin_counts(self) -> None:
        """Connecting does not count."""
        self.crossings = self.crossings_besides = 0
        if self._calls_before is not None:
            self._calls_before = jni_calls.calls()

    def counters(self) -> dict[str, int]:
        counted = {"crossings": self.crossings + self.crossings_besides}
        if self._calls_before is not None:
            counted["jni_calls"] = jni_calls.calls() - self._calls_before
        return counted

    def settings_in_force(self) -> dict[str, Any]:
        return _without_nothing(self._in_force)

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared(self._in_force)

    def close(self) -> None:
        self.close_within(_CLOSE_MS)

    def close_within(self, timeout_ms: int) -> None:
        _open_clients.discard(self)
        if self._calls_before is not None:
            self._calls_before = None
            jni_calls.switch_off()
        self._close_java(timeout_ms)


_open_clients: weakref.WeakSet[JavaClient] = weakref.WeakSet()


def _close_all() -> None:
    """What is still open when Python exits would go on calling it: acks, partitions dealt out."""
    for client in list(_open_clients):
        client.close_within(0)


def checked_config(settings: ClientSettings, role: Role) -> Any:
    """Settings as Kafka's classes take them; a setting that there is not is an error."""
    config = _java_config(settings.native)
    _checked_once(config, settings.native, role)
    return config


def told_config(settings: ClientSettings, role: Role) -> dict[str, Any]:
    """All settings that a client with these has, by Kafka's own account: what was not set has its default."""
    return _without_nothing(_checked_once(_java_config(settings.native), settings.native, role))


def _without_nothing(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}


def made(make: Any, who: str, settings: ClientSettings) -> Any:
    """What `make` makes; Kafka's complaints in our words."""
    try:
        return make()
    except jpype.JException as error:
        raise mapped(error, who, settings) from None


def mapped(error: Any, who: str, settings: ClientSettings) -> StreamgaugeError:
    """The error of ours for one of Kafka's."""
    address = settings.native["bootstrap.servers"]
    causes = _causes(error)
    said = "; ".join(dict.fromkeys(str(cause.getMessage()) for cause in causes if cause.getMessage()))
    names = {str(cause.getClass().getSimpleName()) for cause in causes}
    if names & {"ConfigException", "InvalidConfigurationException"}:
        return BadInput(f"target: client: kafka-clients: {said}")
    if any(name.endswith(("TimeoutException", "AuthenticationException")) for name in names):
        return Unreachable(f"{who}: Kafka at {address}: {said}")
    return CaseFailed(f"{who} cannot go on: {said or type(error).__name__}")


def _causes(error: Any) -> list[Any]:
    causes: list[Any] = []
    while error is not None and len(causes) < 10:
        causes.append(error)
        error = error.getCause()
    return causes


def _java_config(native: Mapping[str, Any]) -> Any:
    if TOKEN_URL in native:
        _allow(str(native[TOKEN_URL]))
    config = jpype.JClass("java.util.HashMap")()
    for name, value in native.items():
        if value is not None:
            config.put(name, str(value).lower() if isinstance(value, bool) else str(value))
    return config


def _allow(url: str) -> None:
    """Kafka's client asks only those for tokens whom a property of Java's names: whom the target does."""
    system = jpype.JClass("java.lang.System")
    known = str(system.getProperty(_ALLOWED_URLS) or "")
    if url not in known.split(","):
        system.setProperty(_ALLOWED_URLS, f"{known},{url}".strip(","))


_CONFIGS: dict[Role, Literal["producer.ProducerConfig", "consumer.ConsumerConfig"]] = {
    "producer": "producer.ProducerConfig",
    "consumer": "consumer.ConsumerConfig",
}


def _checked_once(config: Any, native: Mapping[str, Any], role: Role) -> dict[str, Any]:
    """The same settings need no second look: making a client may be what is timed."""
    key = (role, *sorted((name, str(value)) for name, value in native.items()))
    if key not in _CHECKED:
        _CHECKED[key] = _checked(config, native, role)
    return _CHECKED[key]


_CHECKED: dict[Any, dict[str, Any]] = {}


def _checked(config: Any, native: Mapping[str, Any], role: Role) -> dict[str, Any]:
    """All settings in force, by Kafka's own account. It ignores unknown ones: here they are errors."""
    kinds = {name: jpype.JClass(f"org.apache.kafka.clients.{name}") for name in _CONFIGS.values()}
    known = {str(name) for kind in kinds.values() for name in kind.configNames()}
    if unknown := sorted(set(native) - known):
        raise BadInput(f"target: client: kafka-clients has no setting {unknown[0]!r}")
    try:
        values = kinds[_CONFIGS[role]](config).values()
    except jpype.JException as error:
        raise BadInput(f"target: client: kafka-clients: {error.getMessage()}") from None
    return {
        str(entry.getKey()): None if entry.getValue() is None else str(entry.getValue())
        for entry in values.entrySet()
    }


def _begin_to_count() -> int | None:
    try:
        jni_calls.switch_on(embedded.library_in_use())
    except jni_calls.CannotCount as error:
        _LOGGER.warning("%s", error)
        return None
    return jni_calls.calls()


def triples(start: Mapping[tuple[int, int], int]) -> Any:
    """Topic, partition and offset of each place, as Java wants them."""
    flat = [number for (topic, partition), offset in start.items() for number in (topic, partition, offset)]
    return jpype.JArray(jpype.JLong)(flat)
