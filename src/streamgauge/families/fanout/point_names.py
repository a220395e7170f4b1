"""What points of a fan-out are called in tables and remarks."""

from __future__ import annotations

from streamgauge.families.fanout.document import Point


def clients_text(clients: int) -> str:
    return f"{clients / 1000:g}K" if clients >= 1000 else str(clients)


def place_name(point: Point) -> str:
    return f"{point.series}, {clients_text(point.clients)}"
