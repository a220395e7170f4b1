"""Wrong tokens, by the address that they came from: who guesses is stopped, and nobody else is."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import Callable

MOST_FAILURES, FAILURES_S = 20, 60.0
_MOST_PEERS = 1000
_NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all of its network."""


class FailedLogins:
    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._by_peer: OrderedDict[str, deque[float]] = OrderedDict()

    def are_too_many(self, peer: str) -> bool:
        """Of this peer, within the last minute."""
        times = self._by_peer.get(_owner(peer))
        return times is not None and len(times) == MOST_FAILURES and self._now_s() - times[0] < FAILURES_S

    def add(self, peer: str) -> None:
        """The table is bounded: whoever failed longest ago is forgotten."""
        owner = _owner(peer)
        self._by_peer.setdefault(owner, deque(maxlen=MOST_FAILURES)).append(self._now_s())
        self._by_peer.move_to_end(owner)
        if len(self._by_peer) > _MOST_PEERS:
            self._by_peer.popitem(last=False)


def _owner(peer: str) -> str:
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, _NETWORK_BITS), strict=False))
    return peer
