from __future__ import annotations

from streamgauge.gateway.server.holdings import Holdings


def test_an_ipv6_network_holds_together() -> None:
    held = Holdings()
    for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"):
        held.opened(address)
        held.followed(address, 10)
    assert (held.sessions_of("2001:db8::3"), held.items_of("2001:db8::3"), held.items) == (2, 20, 30)
    assert {name: value for name, _, value in held.gauges()} == {
        "items_followed": 30,
        "items_followed_of_address": 20,
    }


def test_who_holds_nothing_is_forgotten() -> None:
    held = Holdings()
    for n in range(100):
        address = f"10.0.0.{n}"
        held.opened(address)
        held.followed(address, 3)
        held.followed(address, -1)
        held.closed(address, 2)
    assert not held._sessions
    assert not held._items
    assert held.items == 0
