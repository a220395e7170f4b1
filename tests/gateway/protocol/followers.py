"""A follower that writes down what it is told."""

from __future__ import annotations

from streamgauge.gateway.protocol.events import Event
from streamgauge.gateway.protocol.feeds import Feed


class Notebook:
    def __init__(self, feed: Feed) -> None:
        self.told: list[object] = []
        feed.followers[self] = None

    def offer(self, event: Event, now_ns: int) -> None:
        self.told.append(dict(event.values))

    def snapshot_ended(self) -> None:
        self.told.append("EOS")

    def snapshot_cleared(self) -> None:
        self.told.append("CS")
