from __future__ import annotations

from streamgauge.serve.failed_logins import FAILURES_S, MOST_FAILURES, FailedLogins


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_each_peer_has_a_budget_of_its_own_and_has_it_back_after_a_minute() -> None:
    clock = Clock()
    failed = FailedLogins(clock)
    for _ in range(MOST_FAILURES):
        assert not failed.are_too_many("198.51.100.7")
        failed.add("198.51.100.7")
    assert failed.are_too_many("198.51.100.7")
    assert not failed.are_too_many("192.0.2.1")
    clock.now_s += FAILURES_S
    assert not failed.are_too_many("198.51.100.7")


def test_who_has_a_whole_network_has_one_budget() -> None:
    failed = FailedLogins()
    for number in range(MOST_FAILURES):
        failed.add(f"2001:db8::{number:x}")
    assert failed.are_too_many("2001:db8::ffff")
    assert not failed.are_too_many("2001:db8:0:1::1")


def test_an_address_in_the_clothes_of_the_other_protocol_is_the_same() -> None:
    failed = FailedLogins()
    for _ in range(MOST_FAILURES):
        failed.add("::ffff:198.51.100.7")
    assert failed.are_too_many("198.51.100.7")
    assert not failed.are_too_many("::ffff:192.0.2.1")


def test_the_table_is_bounded_and_the_oldest_are_forgotten() -> None:
    failed = FailedLogins()
    for _ in range(MOST_FAILURES):
        failed.add("198.51.100.7")
    for number in range(2000):
        failed.add(f"10.0.{number // 256}.{number % 256}")
    assert len(failed._by_peer) == 1000
    assert not failed.are_too_many("198.51.100.7")
