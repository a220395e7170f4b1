from __future__ import annotations

import pytest

from streamgauge.gateway.server import allowance
from streamgauge.gateway.server.allowance import Allowance, Allowances


def test_a_second_s_worth_at_once_then_so_much_a_second() -> None:
    spent = Allowance(10, 0.0)
    assert [spent.spend(1, 0.0) for _ in range(10)] == [0.0] * 10
    assert spent.spend(5, 0.0) == pytest.approx(0.5)
    assert spent.spend(1, 0.6) == 0.0


def test_each_has_its_own_and_what_is_refused_does_not_count() -> None:
    now_s = 0.0
    each = Allowances(2, lambda: now_s)
    assert [each.spend("a") for _ in range(4)] == [True, True, False, False]
    assert each.spend("b")
    now_s = 0.5
    assert [each.spend("a") for _ in range(2)] == [True, False]


def test_who_has_not_asked_for_a_while_is_forgotten_and_who_has_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(allowance, "_MOST_ALLOWANCES", 3)
    now_s = 0.0
    each = Allowances(1, lambda: now_s)
    assert [each.spend(who) for who in "abcd"] == [True, True, True, False]
    now_s = 1.0
    assert each.spend("a")
    assert [each.spend(who) for who in "defg"] == [True, True, False, False]
    assert not each.spend("a")
