"""Connections beyond what a process can have."""

from __future__ import annotations

import resource
import socket
from types import SimpleNamespace
from typing import cast

import pytest

from streamgauge.gateway.server.accounts import Account
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.crowd import Crowd

from .raw_client import WebSocket, get
from .running import Running, running


def account(network: str) -> Account:
    return cast(Account, SimpleAccount(network=network))


class SimpleAccount(SimpleNamespace):
    __hash__ = object.__hash__  # type: ignore[assignment]


def test_the_oldest_stranger_of_the_address_with_most_makes_room() -> None:
    crowd = Crowd(4)
    lone, first, second, third = account("a"), account("b"), account("b"), account("b")
    assert [crowd.came(each) for each in (lone, first, second, third)] == [None] * 4
    assert crowd.came(account("c")) is first
    crowd.left(first)
    assert (len(crowd), crowd.strangers) == (4, 4)


def test_who_has_a_session_stays_and_who_loses_it_is_a_stranger_again() -> None:
    crowd = Crowd(2)
    one, two, newcomer = account("a"), account("a"), account("b")
    for each in (one, two):
        crowd.came(each)
        crowd.settled(each)
    assert crowd.came(newcomer) is newcomer
    crowd.left(newcomer)
    crowd.unsettled(one)
    assert crowd.came(account("c")) is one


def test_what_has_left_does_not_come_back_as_a_stranger() -> None:
    crowd = Crowd(2)
    gone = account("a")
    crowd.came(gone)
    crowd.left(gone)
    crowd.unsettled(gone)
    crowd.left(gone)
    assert (len(crowd), crowd.strangers) == (0, 0)


def test_there_are_never_more_than_files_can_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20, 20))
    crowd = Crowd(1000)
    assert [crowd.came(account("a")) is None for _ in range(11)] == [True] * 10 + [False]


def silent(server: Running, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), 10, source_address=(address, 0))


@pytest.mark.parametrize("upgrades", [False, True])
def test_silent_connections_lock_nobody_out(upgrades: bool) -> None:
    """Whether they are WebSockets or have not even said that."""
    with running({"limits": {"connections": 40}}) as server, WebSocket(server) as before:
        before.open_session()
        before.subscribe("item")
        held = [silent(server, "127.0.0.9") for _ in range(100)] if not upgrades else []
        crowd = [WebSocket(server) for _ in range(100)] if upgrades else []
        server.wait_until(lambda: server.server.gateway.counters.connections >= 101)
        with WebSocket(server) as newcomer:
            newcomer.open_session()
            newcomer.subscribe("item")
            server.publish("item", {"n": "1"})
            assert before.line() == newcomer.line() == "U,1,1,1"
            assert get(server.monitoring, "/healthz").body == "ok\n"
            budget = server.server.gateway.budget
            assert server.call(lambda: budget.dropped[Reason.CROWDED]) >= 61
            assert server.metric("connections") <= 40
        for each in held:
            each.close()
        for client in crowd:
            client.socket.close()
