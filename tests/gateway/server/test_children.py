"""What deaths lead to; living processes are in test_serving."""

from __future__ import annotations

from streamgauge.gateway.server.children import Deaths


def test_each_death_of_late_doubles_the_delay_until_it_is_enough() -> None:
    deaths = Deaths(most=4, window_s=60, first_delay_s=0.5)
    assert [deaths.one_more(now_s) for now_s in (0, 1, 2, 3)] == [0.5, 1, 2, None]


def test_deaths_of_long_ago_do_not_count() -> None:
    deaths = Deaths(most=3, window_s=60, first_delay_s=0.5)
    assert [deaths.one_more(now_s) for now_s in (0, 10, 61, 200)] == [0.5, 1, 1, 0.5]
