"""What all who are connected may cost: bytes kept of what they sent, bytes owed to them, processing time.

Each is bounded for a connection, for an address and for all together, from a connection's first byte on,
whether anybody has logged in or not. Who is past its share of time is not read for a while; who is past a
bound of bytes is dropped, and where that is an address's bound, or that of all, whoever has most goes. Every
drop is counted by its reason.

Whatever reads from a socket opens an account (`accounts.py`) and deals with a read in `with account:`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter
from enum import StrEnum

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.crowd import Crowd, Visitor
from streamgauge.gateway.server.metrics import Counters, Gauge
from streamgauge.gateway.server.settings import Limits
from streamgauge.gateway.server.shares import Share
from streamgauge.gateway.server.turns import Turns

_NETWORK_BITS = 64


class Reason(StrEnum):
    """Why a connection was dropped."""

    KEPT_OF_ONE = "kept_bytes"
    KEPT_OF_ADDRESS = "kept_bytes_of_address"
    KEPT_OF_ALL = "kept_bytes_of_all"
    OWED_TO_ONE = "owed_bytes"
    OWED_TO_ADDRESS = "owed_bytes_of_address"
    OWED_TO_ALL = "owed_bytes_of_all"
    CPU = "cpu"
    CROWDED = "crowded"
    """It had no session, and its place was needed."""
    UNREAD = "unread"
    """Its socket takes nothing, though there is something."""
    RULES = "rules"
    """It does not speak as WebSockets, HTTP and TLS are spoken."""
    UNFINISHED = "unfinished"
    """It has begun a request, and does not end it."""
    IDLE = "idle"
    NO_SESSION = "no_session"
    SILENT = "silent"
    """It had promised to say something from time to time."""
    STOPPING = "stopping"


class Tally:
    """Bytes of one sort: of each connection that has any, of each address, of all."""

    def __init__(self, of_one: int, of_address: int, of_all: int) -> None:
        self._of_one, self._of_address, self._of_all = of_one, of_address, of_all
        self.by_account: dict[Account, int] = {}
        self.by_address: Counter[str] = Counter()
        self.total_bytes = 0

    def set(self, account: Account, size: int) -> tuple[Account, int] | None:
        """A connection has so many now. Who has to go because of that, and for which bound: 0 its own,
        1 its address's, 2 that of all."""
        more = size - self.by_account.get(account, 0)
        if not more:
            return None
        self.total_bytes += more
        self.by_address[account.network] += more
        if size:
            self.by_account[account] = size
        else:
            del self.by_account[account]
        if more < 0:
            if not self.by_address[account.network]:
                del self.by_address[account.network]
            return None
        return self._exceeded(account, size)

    def _exceeded(self, account: Account, size: int) -> tuple[Account, int] | None:
        if size > self._of_one:
            return account, 0
        if self.by_address[account.network] > self._of_address:
            there = [each for each in self.by_account if each.network == account.network]
            return max(there, key=self.by_account.__getitem__), 1
        if self.total_bytes > self._of_all:
            return max(self.by_account, key=self.by_account.__getitem__), 2
        return None

    def gauges(self, name: str, text: str) -> list[Gauge]:
        return [
            (name, f"bytes {text}", self.total_bytes),
            (
                f"{name}_of_address",
                f"bytes {text}: the address with most",
                max(self.by_address.values(), default=0),
            ),
            (
                f"{name}_of_connection",
                f"bytes {text}: the connection with most",
                max(self.by_account.values(), default=0),
            ),
        ]


_KEPT = (Reason.KEPT_OF_ONE, Reason.KEPT_OF_ADDRESS, Reason.KEPT_OF_ALL)
_OWED = (Reason.OWED_TO_ONE, Reason.OWED_TO_ADDRESS, Reason.OWED_TO_ALL)


class Budget:
    """One process's."""

    def __init__(self, limits: Limits, counters: Counters) -> None:
        self.limits, self.counters = limits, counters
        self.dropped: Counter[Reason] = Counter()
        self._kept = Tally(limits.kept_bytes, limits.kept_bytes_of_address, limits.kept_bytes_of_all)
        self._owed = Tally(limits.owed_bytes, limits.owed_bytes_of_address, limits.owed_bytes_of_all)
        self._cpu = Share(limits.cpu_share_of_all, limits.cpu_window)
        self._cpu_by_address: dict[str, Share] = {}
        self.turns = Turns(limits.cpu_slice)
        self.crowd = Crowd(limits.connections)

    def open(self, transport: asyncio.Transport) -> Account:
        """For a connection that has just come."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        account = Account(self, transport, address, network_of(address))
        self.come(account)
        return account

    def come(self, visitor: Visitor) -> None:
        """One more connection, whatever it has said; another may have to make room for it."""
        out = self.crowd.came(visitor)
        if out is not None:
            out.drop(Reason.CROWDED)

    def close(self, account: Account) -> None:
        """Nothing is kept for it or owed to it any more."""
        account.is_gone = True
        self.crowd.left(account)
        self._kept.set(account, 0)
        self._owed.set(account, 0)

    def keep(self, account: Account, size: int) -> None:
        over = None if account.is_gone else self._kept.set(account, size)
        if over is not None:
            self.drop(over[0], _KEPT[over[1]])

    def owe(self, account: Account, size: int) -> None:
        over = None if account.is_gone else self._owed.set(account, size)
        if over is not None:
            self.drop(over[0], _OWED[over[1]])

    def drop(self, account: Account, reason: Reason) -> None:
        """Close a connection at once, whatever waits for it."""
        if account.is_gone:
            return
        self.count_drop(reason)
        self.close(account)
        account.transport.abort()

    def count_drop(self, reason: Reason) -> None:
        self.counters.connections_dropped += 1
        self.dropped[reason] += 1

    def spend_cpu(self, account: Account, spent_ns: int) -> float:
        """Seconds for which this connection is not to be read; while there is too little time for all, only
        those wait who have lately used much of theirs."""
        now_ns = time.monotonic_ns()
        self.counters.reading_cpu_ns += spent_ns
        share = self._cpu_by_address.get(account.network)
        if share is None:
            share = Share(self.limits.cpu_share_of_address, self.limits.cpu_window)
            self._cpu_by_address[account.network] = share
        own = account.cpu
        own_s = own.spend(spent_ns, now_ns)
        address_s, all_s = share.spend(spent_ns, now_ns), self._cpu.spend(spent_ns, now_ns)
        if not (own_s or address_s or all_s):
            return 0.0
        if own.is_overdrawn_twice:
            self.drop(account, Reason.CPU)
        return max(own_s, address_s, all_s if own.is_half_used else 0.0)

    def look(self, now_ns: int) -> None:
        """From time to time: drop who does not read, forget addresses that have not been heard of."""
        unread_ns = int(self.limits.unread_deadline * NS_PER_S)
        for account in list(self._owed.by_account):
            if account.unread_ns(now_ns) > unread_ns:
                self.drop(account, Reason.UNREAD)
        for network in [each for each, share in self._cpu_by_address.items() if share.is_whole(now_ns)]:
            del self._cpu_by_address[network]

    def gauges(self) -> list[Gauge]:
        now_ns = time.monotonic_ns()
        of_addresses = [share.used(now_ns) for share in self._cpu_by_address.values()]
        of_connections = [account.cpu.used(now_ns) for account in self.crowd if isinstance(account, Account)]
        return [
            ("connections", "open connections", len(self.crowd)),
            ("connections_without_session", "those that carry no session", self.crowd.strangers),
            *self._kept.gauges("kept_bytes", "received and not dealt with yet"),
            *self._owed.gauges("owed_bytes", "that wait for clients who read slowly"),
            ("turns_waiting", "connections of whose requests some wait for their turn", len(self.turns)),
            ("cpu_used", "of the time allowed for what clients send, the part used", self._cpu.used(now_ns)),
            (
                "cpu_used_of_address",
                "the same, of the address that used most",
                max(of_addresses, default=0.0),
            ),
            (
                "cpu_used_of_connection",
                "the same, of the connection that used most",
                max(of_connections, default=0.0),
            ),
        ]


def network_of(address: str) -> str:
    """Whose address it is: of IPv6 everybody has a network of many."""
    if ":" not in address:
        return address
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((found, _NETWORK_BITS), strict=False))
