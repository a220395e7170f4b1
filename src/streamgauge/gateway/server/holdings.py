"""What clients hold of the server's memory as long as they like: sessions, and the items those follow."""

from __future__ import annotations

from collections import Counter

from streamgauge.gateway.server.budget import network_of
from streamgauge.gateway.server.metrics import Gauge


class Holdings:
    """By address, of which an IPv6 network is one, and of all."""

    def __init__(self) -> None:
        self._sessions: Counter[str] = Counter()
        self._items: Counter[str] = Counter()
        self.items = 0

    def sessions_of(self, address: str) -> int:
        return self._sessions[network_of(address)]

    def items_of(self, address: str) -> int:
        return self._items[network_of(address)]

    def opened(self, address: str) -> None:
        self._sessions[network_of(address)] += 1

    def closed(self, address: str, items: int) -> None:
        _add(self._sessions, network_of(address), -1)
        self.followed(address, -items)

    def followed(self, address: str, items: int) -> None:
        """So many more; fewer, if below 0."""
        self.items += items
        _add(self._items, network_of(address), items)

    def gauges(self) -> list[Gauge]:
        most = max(self._items.values(), default=0)
        return [
            ("items_followed", "items that sessions follow, each session's counted", self.items),
            ("items_followed_of_address", "the same, of the address with most", most),
        ]


def _add(counts: Counter[str], network: str, more: int) -> None:
    """Who holds nothing is forgotten."""
    counts[network] += more
    if not counts[network]:
        del counts[network]
