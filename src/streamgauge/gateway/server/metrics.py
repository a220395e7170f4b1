"""What the server counts, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from streamgauge.gateway.server.contract import SourceCounters

_PREFIX = "streamgauge_gateway_"
Gauge = tuple[str, str, float]
"""Name, help and value."""


@dataclass
class Counters:
    """All count up from the start of the process."""

    connections: int = 0
    sessions_created: int = 0
    sessions_refused: int = 0
    sessions_lost: int = 0
    recoveries: int = 0
    recoveries_refused: int = 0
    recoveries_cut: int = 0
    requests: int = 0
    requests_refused: int = 0
    password_checks: int = 0
    events: int = 0
    notifications: int = 0
    frames: int = 0
    frames_built: int = 0
    sent_bytes: int = 0
    fallen_behind: int = 0
    events_lost: int = 0
    connections_dropped: int = 0
    connections_handed_over: int = 0
    reads_delayed: int = 0
    reading_cpu_ns: int = 0
    process_restarts: int = 0


_HELP = {
    "connections": "TCP connections accepted",
    "sessions_created": "sessions opened",
    "sessions_refused": "sessions refused, for want of rights or of room",
    "sessions_lost": "sessions given up because nobody came back to them",
    "recoveries": "sessions recovered after their connection broke",
    "recoveries_refused": "recoveries for which too much had been sent since",
    "recoveries_cut": "times that half of what was kept for one session was given up, for want of room",
    "requests": "requests carried out",
    "requests_refused": "requests answered with an error",
    "password_checks": "passwords that were not known to be right, and were checked",
    "events": "events published by sources for subscribed items",
    "notifications": "data notifications sent, each session's counted",
    "frames": "frames sent",
    "frames_built": "frames built; one may go to many sessions",
    "sent_bytes": "bytes handed to sockets as frames",
    "fallen_behind": "times a session's socket was full",
    "events_lost": "events dropped and announced to their client as lost",
    "connections_dropped": "connections closed because their client broke a rule or a deadline",
    "connections_handed_over": "connections given to the process that has the session they asked for",
    "reads_delayed": "times a connection was not read for a while, having used up its share",
    "reading_cpu_ns": "nanoseconds of processing time spent on what clients sent",
    "process_restarts": "processes of the gateway started again after they had died, the same from each",
}
_SOURCE_HELP = {
    "records_read": "records read from Kafka",
    "records_mapped": "records published to at least one subscribed item",
    "records_failed": "records that could not be mapped",
}
assert set(_HELP) == {field.name for field in fields(Counters)}
assert set(_SOURCE_HELP) == {field.name for field in fields(SourceCounters)}


def exposition(
    counters: Counters,
    gauges: Iterable[Gauge],
    drops: Mapping[str, int],
    process: int,
    sources: Mapping[tuple[str, str], SourceCounters],
) -> bytes:
    """`drops`: connections dropped by reason. `sources`: by adapter set and data adapter. Every process
    tells of itself."""
    labels = f'process="{process}"'
    lines: list[str] = []
    for name, text in _HELP.items():
        lines += _metric(f"{name}_total", text, "counter", [(labels, getattr(counters, name))])
    by_reason = [(f'{labels},reason="{reason}"', count) for reason, count in drops.items()]
    lines += _metric("drops_total", "connections dropped, by reason", "counter", by_reason)
    for name, text in _SOURCE_HELP.items():
        values = [
            (f'{labels},adapter_set="{_escaped(adapters)}",data_adapter="{_escaped(adapter)}"', count)
            for (adapters, adapter), counted in sources.items()
            for count in [getattr(counted, name)]
        ]
        lines += _metric(f"{name}_total", text, "counter", values)
    for name, text, value in gauges:
        lines += _metric(name, text, "gauge", [(labels, value)])
    return "\n".join([*lines, ""]).encode()


def _metric(name: str, text: str, kind: str, values: Iterable[tuple[str, float]]) -> list[str]:
    full = f"{_PREFIX}{name}"
    told = [f"{full}{{{labels}}} {value}" for labels, value in values]
    return [f"# HELP {full} {text}", f"# TYPE {full} {kind}", *told]


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
