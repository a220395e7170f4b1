"""Settings that mean the same in every Kafka client: set once, translated here, and read back.

One table. A row has a name of ours; each library has its own name, words and default for it, or nothing
of the kind. Where a target sets the library's own name (`client:` …), that wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from streamgauge.drivers.contract import SharedSetting
from streamgauge.spec.client_settings import ClientSettings

Library = Literal["librdkafka", "kafka-clients", "kafka-python", "aiokafka"]
Role = Literal["producer", "consumer"]


class KafkaSettings(ClientSettings):
    """What every Kafka driver takes."""

    bootstrap: str | None = None
    """host:port[,host:port …]; by default the system that the run starts, or `cluster up`."""
    security_file: Path | None = None
    """Java's client properties, as Kafka's own tools take them with --command-config: of a cluster that asks
    who we are. Whatever the library, it is told in its own words; `client:` wins."""


@dataclass(frozen=True)
class _Native:
    """One library's form of a setting."""

    name: str
    to_native: Callable[[Any], Any] = lambda value: value
    from_native: Callable[[Any], Any] = lambda value: value
    default: Any = None
    """Where the library does not tell what is in force: its default, checked by the tests."""
    note: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Row:
    name: str
    roles: tuple[Role, ...]
    natives: Mapping[Library, _Native]
    missing: Mapping[Library, str] = field(default_factory=dict)
    """What a library without it does instead."""


def _acks_number(acks: Any) -> int:
    return -1 if acks in ("all", "-1", -1) else int(acks)


def _acks_word(acks: Any) -> str:
    return "all" if str(acks) in ("all", "-1") else str(acks)


def _no_compression_is_none(compression: str) -> str | None:
    return None if compression == "none" else compression


def _none_is_no_compression(compression: str | None) -> str:
    return compression or "none"


def _system_default(nothing: int) -> Callable[[Any], Any]:
    """Libraries say "leave it to the operating system" with a number of their own."""
    return lambda size: None if size is None or int(size) == nothing else int(size)


def _integer(value: Any) -> int:
    return int(value)


def _flag(value: Any) -> bool:
    return str(value).lower() in ("true", "1")


_BOTH: tuple[Role, ...] = ("producer", "consumer")
_AT_ONCE = "max.in.flight.requests.per.connection"

ROWS = (
    _Row(
        "acks",
        ("producer",),
        {
            "librdkafka": _Native(
                "acks", from_native=_acks_word, default="all", aliases=("request.required.acks",)
            ),
            "kafka-clients": _Native("acks", from_native=_acks_word),
            "kafka-python": _Native("acks", _acks_number, _acks_word),
            "aiokafka": _Native("acks", _acks_number, _acks_word),
        },
    ),
    _Row(
        "compression",
        ("producer",),
        {
            "librdkafka": _Native("compression.type", default="none", aliases=("compression.codec",)),
            "kafka-clients": _Native("compression.type"),
            "kafka-python": _Native("compression_type", _no_compression_is_none, _none_is_no_compression),
            "aiokafka": _Native("compression_type", _no_compression_is_none, _none_is_no_compression),
        },
    ),
    _Row(
        "linger_ms",
        ("producer",),
        {
            "librdkafka": _Native(
                "linger.ms", from_native=float, default=5, aliases=("queue.buffering.max.ms",)
            ),
            "kafka-clients": _Native("linger.ms", from_native=_integer),
            "kafka-python": _Native("linger_ms"),
            "aiokafka": _Native("linger_ms", note="also after the last message: no flush hurries it"),
        },
    ),
    _Row(
        "batch_size",
        ("producer",),
        {
            "librdkafka": _Native(
                "batch.size",
                from_native=_integer,
                default=1_000_000,
                note="bytes; a batch also ends at batch.num.messages (10000 by default)",
            ),
            "kafka-clients": _Native("batch.size", from_native=_integer, note="bytes"),
            "kafka-python": _Native("batch_size", note="bytes"),
            "aiokafka": _Native("max_batch_size", note="bytes"),
        },
    ),
    _Row(
        "max_in_flight",
        ("producer",),
        {
            "librdkafka": _Native(
                _AT_ONCE, from_native=_integer, default=1_000_000, aliases=("max.in.flight",)
            ),
            "kafka-clients": _Native(_AT_ONCE, from_native=_integer),
            "kafka-python": _Native("max_in_flight_requests_per_connection"),
        },
        {"aiokafka": "always one request a broker at a time"},
    ),
    _Row(
        "idempotence",
        ("producer",),
        {
            "librdkafka": _Native("enable.idempotence", from_native=_flag, default=False),
            "kafka-clients": _Native("enable.idempotence", from_native=_flag),
            "kafka-python": _Native("enable_idempotence"),
            "aiokafka": _Native("enable_idempotence"),
        },
    ),
    _Row(
        "send_buffer",
        _BOTH,
        {
            "librdkafka": _Native("socket.send.buffer.bytes", from_native=_system_default(0), default=0),
            "kafka-clients": _Native("send.buffer.bytes", from_native=_system_default(-1)),
            "kafka-python": _Native("send_buffer_bytes"),
        },
        {"aiokafka": "left to the operating system"},
    ),
    _Row(
        "receive_buffer",
        _BOTH,
        {
            "librdkafka": _Native("socket.receive.buffer.bytes", from_native=_system_default(0), default=0),
            "kafka-clients": _Native("receive.buffer.bytes", from_native=_system_default(-1)),
            "kafka-python": _Native("receive_buffer_bytes"),
        },
        {"aiokafka": "left to the operating system"},
    ),
    _Row(
        "fetch_min_bytes",
        ("consumer",),
        {
            "librdkafka": _Native("fetch.min.bytes", from_native=_integer, default=1),
            "kafka-clients": _Native("fetch.min.bytes", from_native=_integer),
            "kafka-python": _Native("fetch_min_bytes"),
            "aiokafka": _Native("fetch_min_bytes"),
        },
    ),
    _Row(
        "fetch_max_wait_ms",
        ("consumer",),
        {
            "librdkafka": _Native("fetch.wait.max.ms", from_native=_integer, default=500),
            "kafka-clients": _Native("fetch.max.wait.ms", from_native=_integer),
            "kafka-python": _Native("fetch_max_wait_ms"),
            "aiokafka": _Native("fetch_max_wait_ms"),
        },
    ),
)


def translate(
    library: Library, role: Role, wanted: Mapping[str, Any], native: Mapping[str, Any]
) -> dict[str, Any]:
    """The library's settings: `wanted` by our names (None: not set), then `native` as it is."""
    translated = {}
    for row in ROWS:
        form = row.natives.get(library)
        value = wanted.get(row.name)
        if form is None or value is None or role not in row.roles:
            continue
        if not any(name in native for name in (form.name, *form.aliases)):
            translated[form.name] = form.to_native(value)
    return {**translated, **native}


def in_force(
    library: Library, role: Role, wanted: Mapping[str, Any], native: Mapping[str, Any]
) -> list[SharedSetting]:
    """Every row for this role, from the settings that the library tells or was given."""
    rows = []
    for row in ROWS:
        if role not in row.roles:
            continue
        form = row.natives.get(library)
        if form is None:
            asked = wanted.get(row.name)
            note = row.missing[library] + ("" if asked is None else f"; {asked} was asked for")
            rows.append(SharedSetting(row.name, None, None, note))
        else:
            rows.append(SharedSetting(row.name, form.name, _value(form, native), form.note))
    if library != "librdkafka" or role != "producer":
        return rows
    return _adjusted(rows, is_transactional=bool(native.get("transactional.id")))


def promised(rows: Iterable[SharedSetting]) -> dict[str, Any]:
    """By the library's own name: what a log is judged by, where the library does not tell its defaults."""
    return {row.native: row.value for row in rows if row.name == "idempotence" and row.native is not None}


def _value(form: _Native, native: Mapping[str, Any]) -> Any:
    for name in (form.name, *form.aliases):
        if name in native:
            return form.from_native(native[name])
    return form.from_native(form.default)


def _adjusted(rows: list[SharedSetting], *, is_transactional: bool) -> list[SharedSetting]:
    """librdkafka does not tell what it made of its settings: with transactions it is idempotent, and so it
    has 5 in flight at most."""
    if is_transactional:
        rows = [
            SharedSetting(row.name, row.native, True, "transactions need it")
            if row.name == "idempotence" and not row.value
            else row
            for row in rows
        ]
    idempotent = any(row.name == "idempotence" and row.value for row in rows)
    return [
        SharedSetting(row.name, row.native, 5, "at most 5, being idempotent")
        if idempotent and row.name == "max_in_flight" and isinstance(row.value, int) and row.value > 5
        else row
        for row in rows
    ]
