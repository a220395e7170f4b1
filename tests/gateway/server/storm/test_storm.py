"""All attacks at once against one gateway, with honest clients who must not notice."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest

from ...protocol.proof import PROOF
from .attacks import ATTACKS
from .programs import Program, program
from .watching import Watch, metrics, watched

TICKS_PER_S = 4
START_DEADLINE_S, MARK_DEADLINE_S = 150, 90
MOST_MORE_MIB = 200
"""What a storm may add to the gateway's memory; unread pongs alone once added 600 MiB in 6 s."""


@dataclass(frozen=True)
class Size:
    honest: int
    quiet_s: float
    storm_s: float
    attackers: float
    """Visitors of each attack, as a part of what it has."""


SIZE = Size(1000, 1800, 1800, 1.0) if PROOF else Size(100, 2, 25, 0.5)


@pytest.mark.proof
@pytest.mark.timeout(2 * 1800 + 900)
def test_honest_clients_do_not_notice_a_storm() -> None:
    with program("stormed", settings={}, ticks_per_s=TICKS_PER_S) as gateway:
        port = gateway.answer(START_DEADLINE_S)["port"]
        with program("honest", port=port, count=SIZE.honest, per_address=50) as honest:
            honest.answer(START_DEADLINE_S)
            warm_up(honest)
            time.sleep(SIZE.quiet_s)
            quiet = honest.ask("mark", MARK_DEADLINE_S)
            with watched(port, gateway.pid) as watch:
                outcomes = storm(port)
                stormy = honest.ask("mark", MARK_DEADLINE_S)
        told = metrics(port)
    tell(quiet, stormy, watch, outcomes)
    assert quiet["trouble"] == stormy["trouble"] == {}, "an update was missing, or a connection was closed"
    assert quiet["behind"] == stormy["behind"] == 0
    assert stormy["received"] >= SIZE.honest * TICKS_PER_S * (SIZE.storm_s - 5)
    assert watch.more_mib < MOST_MORE_MIB
    assert watch.failures == []
    assert watch.answers > 0
    assert [name for name, of_attack in outcomes.items() if not of_attack] == []
    assert told['connections_dropped_total{process="0"}'] > 0
    if PROOF:
        assert stormy["p99_ms"] <= 2 * quiet["p99_ms"]


def warm_up(honest: Program) -> None:
    time.sleep(10 if PROOF else 1)
    honest.ask("mark", MARK_DEADLINE_S)


def storm(port: int) -> dict[str, Any]:
    """What became of each attack's visits."""
    with program("attackers", port=port, seconds=SIZE.storm_s, scale=SIZE.attackers) as attackers:
        assert attackers.answer(START_DEADLINE_S) == {"attacks": len(ATTACKS)}
        return attackers.ask("go", SIZE.storm_s + 60)


def tell(quiet: dict[str, Any], stormy: dict[str, Any], watch: Watch, outcomes: dict[str, Any]) -> None:
    """The figures, for who looks at the output (pytest -s, or a failure)."""
    print(f"\n{SIZE}")  # noqa: T201
    for name, figures in (("quiet", quiet), ("storm", stormy)):
        print(f"{name}: {figures}")  # noqa: T201
    print(f"memory {watch.begin_mib:.0f} MiB, at most {watch.most_mib:.0f} MiB")  # noqa: T201
    print(f"/healthz {watch.answers} times, slowest {watch.slowest_answer_s:.3f} s")  # noqa: T201
    for name, of_attack in outcomes.items():
        print(f"{name}: {of_attack}")  # noqa: T201
