"""Budgets by themselves, on transports that only note what is done with them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from streamgauge.gateway.server import accounts, budget
from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.budget import Budget, Reason, network_of
from streamgauge.gateway.server.metrics import Counters
from streamgauge.gateway.server.settings import Limits

MS, SECOND = 1_000_000, 1_000_000_000


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), 10))

    return run


class Clock:
    """Processing time and time of day, of which the test says what they are."""

    def __init__(self) -> None:
        self.spent_ns, self.now_ns = 0, 1000 * SECOND

    def thread_time_ns(self) -> int:
        return self.spent_ns

    def monotonic_ns(self) -> int:
        return self.now_ns

    def monotonic(self) -> float:
        return self.now_ns / SECOND


class FakeTransport:
    def __init__(self, address: str) -> None:
        self._address = address
        self.is_open, self.reads, self.waiting_bytes = True, True, 0

    def get_extra_info(self, name: str) -> Any:
        return (self._address, 1) if name == "peername" else None

    def get_write_buffer_size(self) -> int:
        return self.waiting_bytes

    def is_closing(self) -> bool:
        return not self.is_open

    def is_reading(self) -> bool:
        return self.reads

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def abort(self) -> None:
        self.is_open = False


class Stage:
    """A budget, and connections on it."""

    def __init__(self, **limits: Any) -> None:
        self.counters = Counters()
        self.budget = Budget(Limits.model_validate(limits), self.counters)

    def connect(self, address: str = "10.0.0.1") -> tuple[Account, FakeTransport]:
        transport = FakeTransport(address)
        return self.budget.open(cast(asyncio.Transport, transport)), transport

    def gauge(self, name: str) -> float:
        return {found: value for found, _, value in self.budget.gauges()}[name]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(accounts, "time", clock)
    monkeypatch.setattr(budget, "time", clock)
    return clock


def owe(account: Account, transport: FakeTransport, size: int) -> None:
    account.held_bytes += size - transport.waiting_bytes
    transport.waiting_bytes = size
    account.owe()


def test_who_has_most_goes_when_there_is_too_much_in_all() -> None:
    stage = Stage(kept_bytes_of_all=250_000, kept_bytes_of_address=200_000)
    (big, big_transport), (small, small_transport) = stage.connect("10.0.0.1"), stage.connect("10.0.0.2")
    big.keep(120_000)
    small.keep(60_000)
    third, third_transport = stage.connect("10.0.0.3")
    third.keep(90_000)
    assert [each.is_open for each in (big_transport, small_transport, third_transport)] == [False, True, True]
    assert stage.budget.dropped == {Reason.KEPT_OF_ALL: 1}
    assert stage.gauge("kept_bytes") == 150_000
    assert stage.gauge("kept_bytes_of_connection") == 90_000


def test_an_address_pays_for_itself() -> None:
    stage = Stage(kept_bytes_of_address=150_000)
    other, other_transport = stage.connect("10.0.0.9")
    other.keep(130_000)
    there = [stage.connect() for _ in range(3)]
    for account, _ in there:
        account.keep(60_000)
    assert other_transport.is_open
    assert sum(transport.is_open for _, transport in there) == 2
    assert stage.budget.dropped == {Reason.KEPT_OF_ADDRESS: 1}
    assert stage.gauge("kept_bytes_of_address") == 130_000


def test_a_connection_may_keep_so_much_and_owe_so_much() -> None:
    stage = Stage(owed_bytes=1000)
    account, transport = stage.connect()
    account.keep(131_072)
    assert transport.is_open
    account.keep(131_073)
    assert not transport.is_open
    account, transport = stage.connect()
    account.filled()
    owe(account, transport, 1001)
    assert not transport.is_open
    assert stage.budget.dropped == {Reason.KEPT_OF_ONE: 1, Reason.OWED_TO_ONE: 1}
    assert stage.counters.connections_dropped == 2
    assert (stage.gauge("kept_bytes"), stage.gauge("owed_bytes")) == (0, 0)


def test_who_is_owed_much_is_not_read_until_it_has_taken_that() -> None:
    stage = Stage(owed_bytes=4000)
    account, transport = stage.connect()
    account.filled()
    owe(account, transport, 1000)
    assert transport.reads
    owe(account, transport, 1001)
    assert not transport.reads
    transport.waiting_bytes = 0
    account.drained()
    assert transport.reads
    assert stage.gauge("owed_bytes") == 0


def test_only_what_the_socket_takes_is_progress(clock: Clock) -> None:
    stage = Stage(unread_deadline="20s")
    (slow, slow_transport), (stuck, stuck_transport) = stage.connect(), stage.connect()
    for account, transport in ((slow, slow_transport), (stuck, stuck_transport)):
        account.filled()
        owe(account, transport, 10_000)
    for _ in range(3):
        clock.now_ns += 15 * SECOND
        # It takes a byte, and is owed a thousand more.
        slow_transport.waiting_bytes -= 1
        owe(slow, slow_transport, slow_transport.waiting_bytes + 1000)
        owe(stuck, stuck_transport, stuck_transport.waiting_bytes + 1000)
        stage.budget.look(clock.now_ns)
    assert slow_transport.is_open
    assert not stuck_transport.is_open
    assert stage.budget.dropped == {Reason.UNREAD: 1}


def spend(clock: Clock, account: Account, spent_ns: int) -> None:
    with account:
        clock.spent_ns += spent_ns


@on_a_loop
async def test_who_uses_up_its_time_is_read_later_and_who_uses_twice_as_much_is_dropped(clock: Clock) -> None:
    stage = Stage(cpu_share=0.1, cpu_window="1s")
    account, transport = stage.connect()
    spend(clock, account, 100 * MS)
    assert transport.reads
    spend(clock, account, 1 * MS)
    assert not transport.reads
    assert stage.counters.reads_delayed == 1
    while not transport.reads:
        await asyncio.sleep(0.005)
    clock.now_ns += SECOND
    spend(clock, account, 201 * MS)
    assert not transport.is_open
    assert stage.budget.dropped == {Reason.CPU: 1}
    assert stage.counters.reading_cpu_ns == 302 * MS


@on_a_loop
async def test_many_connections_of_an_address_share_its_time(clock: Clock) -> None:
    stage = Stage(cpu_share_of_address=0.1, cpu_window="1s")
    connections = [stage.connect() for _ in range(3)]
    other, other_transport = stage.connect("10.0.0.2")
    for account, _ in connections:
        spend(clock, account, 50 * MS)
    spend(clock, other, 50 * MS)
    assert [transport.reads for _, transport in connections] == [True, True, False]
    assert other_transport.reads
    assert stage.gauge("cpu_used_of_address") == pytest.approx(1.5)
    for account, _ in connections:
        account.close()


@on_a_loop
async def test_when_all_is_used_up_only_those_wait_who_used_much(clock: Clock) -> None:
    stage = Stage(cpu_share=0.1, cpu_share_of_all=0.2, cpu_window="1s")
    greedy = [stage.connect(f"10.0.0.{n}") for n in range(3)]
    modest, modest_transport = stage.connect("10.0.1.1")
    for account, _ in greedy:
        spend(clock, account, 80 * MS)
    spend(clock, modest, 1 * MS)
    assert stage.gauge("cpu_used") == pytest.approx(1.205)
    assert [transport.reads for _, transport in greedy] == [True, True, False]
    assert modest_transport.reads
    for account, _ in greedy:
        account.close()


@on_a_loop
async def test_requests_that_come_too_fast_are_read_later(clock: Clock) -> None:
    stage = Stage(requests_per_s=100)
    account, transport = stage.connect()
    account.spend(100)
    assert transport.reads
    account.spend(2)
    assert not transport.reads
    # What it is owed keeps it from being read, too.
    account.filled(reads_on=False)
    account.drained()
    assert not transport.reads
    while not transport.reads:
        await asyncio.sleep(0.005)


@on_a_loop
async def test_nothing_is_remembered_of_who_has_gone(clock: Clock) -> None:
    stage = Stage()
    account, transport = stage.connect()
    account.keep(100)
    account.filled()
    owe(account, transport, 100)
    spend(clock, account, 1 * MS)
    account.close()
    clock.now_ns += 10 * SECOND
    stage.budget.look(clock.now_ns)
    assert {name: value for name, _, value in stage.budget.gauges() if value} == {}
    assert stage.budget._cpu_by_address == {}


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_an_ipv6_address_stands_for_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_limits_leave_room_for_a_request() -> None:
    with pytest.raises(ValueError, match="no room for a request"):
        Limits(request_bytes=200_000)
