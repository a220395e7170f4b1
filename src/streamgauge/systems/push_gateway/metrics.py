"""What the server counts, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

_PREFIX = "streamgauge_gateway_"


@dataclass
class Counters:
    """All count up from the start of the process."""

    connections: int = 0
    sessions_created: int = 0
    sessions_refused: int = 0
    sessions_lost: int = 0
    recoveries: int = 0
    recoveries_refused: int = 0
    requests: int = 0
    requests_refused: int = 0
    events: int = 0
    notifications: int = 0
    frames: int = 0
    frames_built: int = 0
    sent_bytes: int = 0
    fallen_behind: int = 0
    events_lost: int = 0
    connections_dropped: int = 0


_HELP = {
    "connections": "TCP connections accepted",
    "sessions_created": "sessions opened",
    "sessions_refused": "sessions refused, for want of rights or of room",
    "sessions_lost": "sessions given up because nobody came back to them",
    "recoveries": "sessions recovered after their connection broke",
    "recoveries_refused": "recoveries for which too much had been sent since",
    "requests": "requests carried out",
    "requests_refused": "requests answered with an error",
    "events": "events published by sources for subscribed items",
    "notifications": "data notifications sent, each session's counted",
    "frames": "frames sent",
    "frames_built": "frames built; one may go to many sessions",
    "sent_bytes": "bytes handed to sockets as frames",
    "fallen_behind": "times a session's socket was full",
    "events_lost": "events dropped and announced to their client as lost",
    "connections_dropped": "connections closed because their client broke a rule or a deadline",
}
assert set(_HELP) == {field.name for field in fields(Counters)}


def exposition(counters: Counters, gauges: Iterable[tuple[str, str, float]], process: int) -> bytes:
    """`gauges`: name, help and value. Every process tells of itself."""
    label = f'{{process="{process}"}}'
    lines: list[str] = []
    for field in fields(Counters):
        name = f"{_PREFIX}{field.name}_total"
        lines += [f"# HELP {name} {_HELP[field.name]}", f"# TYPE {name} counter"]
        lines.append(f"{name}{label} {getattr(counters, field.name)}")
    for gauge, text, value in gauges:
        name = f"{_PREFIX}{gauge}"
        lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", f"{name}{label} {value:g}"]
    return "\n".join([*lines, ""]).encode()
