"""Everybody loses the connection at once, and everybody comes back at once."""

from __future__ import annotations

import time

import pytest

from tests.proof import PROOF

from .programs import program
from .watching import metrics, watched

CLIENTS = 10_000 if PROOF else 500
ROUNDS = 5 if PROOF else 3
MOST_KIB_A_CLIENT = 100
"""Of the gateway's memory that coming back may cost, over what the sessions cost before."""
SETTINGS = {"session_recovery": "5m", "limits": {"recovery_bytes": "1MiB"}}
"""Nothing is timed here: a slow machine must not lose sessions, only take longer."""


@pytest.mark.proof
@pytest.mark.timeout(1800)
def test_nothing_is_lost_when_all_come_back_at_once() -> None:
    with program("stormed", settings=SETTINGS, ticks_per_s=1) as gateway:
        said = gateway.answer(60)
        port, monitoring = said["port"], said["monitoring"]
        with program("honest", port=port, count=CLIENTS, per_address=250) as honest:
            assert honest.answer(150) == {"clients": CLIENTS}
            with watched(monitoring, gateway.pid) as watch:
                for _ in range(ROUNDS):
                    time.sleep(1)
                    assert honest.ask("cut", 150) == {"clients": CLIENTS}
            figures = honest.ask("mark", 90)
            told = metrics(monitoring)
    print(f"\n{CLIENTS} clients, {ROUNDS} times: {figures}")  # noqa: T201
    print(f"memory {watch}")  # noqa: T201
    assert figures["trouble"] == {}, "an update was missing or repeated, or a session was"
    assert figures["behind"] == 0
    assert figures["received"] >= CLIENTS * ROUNDS
    assert watch.more_mib * 1024 < MOST_KIB_A_CLIENT * CLIENTS + 20_000
    assert watch.failures == []
    assert watch.answers > 0
    counted = {
        name: told[f'{name}{{process="0"}}']
        for name in ("sessions_created_total", "recoveries_total", "recoveries_refused_total", "sessions")
    }
    assert counted == {
        "sessions_created_total": CLIENTS,
        "recoveries_total": CLIENTS * ROUNDS,
        "recoveries_refused_total": 0,
        "sessions": CLIENTS,
    }
