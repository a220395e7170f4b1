"""All attacks at once against one gateway, with honest clients who must not notice."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.proof import PROOF

from .attacks import ATTACKS
from .programs import END_DEADLINE_S, Program, program
from .watching import metrics, watched

TICKS_PER_S = 4
START_DEADLINE_S, MARK_DEADLINE_S = 150, 90
MOST_MORE_MIB = 200
"""What a storm may add to the gateway's memory; unread pongs alone once added 600 MiB in 6 s."""


LONGEST_TURN_MS = 2000
"""Of processing time in one go, while which nobody is served; empty fragments alone once took 13 s."""
STORM_S = float(os.environ.get("STREAMGAUGE_STORM_S", "1800"))
"""Of the proof."""
QUIET_S = min(STORM_S, 300)
"""So long it is measured without a storm, right before."""


@dataclass(frozen=True)
class Size:
    honest: int
    quiet_s: float
    storm_s: float
    attackers: float
    """Visitors of each attack, as a part of what it has."""


SIZE = Size(1000, QUIET_S, STORM_S, 1.0) if PROOF else Size(100, 2, 25, 0.5)


@pytest.mark.proof
@pytest.mark.timeout(QUIET_S + STORM_S + 900)
def test_honest_clients_do_not_notice_a_storm() -> None:
    with program("stormed", settings={}, ticks_per_s=TICKS_PER_S) as gateway:
        said = gateway.answer(START_DEADLINE_S)
        port, monitoring = said["port"], said["monitoring"]
        with program("honest", port=port, count=SIZE.honest, per_address=50) as honest:
            honest.answer(START_DEADLINE_S)
            warm_up(honest)
            time.sleep(SIZE.quiet_s)
            quiet = honest.ask("mark", MARK_DEADLINE_S)
            with watched(monitoring, gateway.pid) as watch:
                outcomes = storm(port)
                stormy = honest.ask("mark", MARK_DEADLINE_S)
        drops = dropped(monitoring)
        turns = gateway.end(END_DEADLINE_S)
        log = gateway.log
    tell(outcomes, quiet=quiet, storm=stormy, memory=str(watch), dropped=drops, turns=turns)
    assert quiet["trouble"] == stormy["trouble"] == {}, "an update was missing, or a connection was closed"
    assert quiet["behind"] == stormy["behind"] == 0
    assert stormy["received"] >= SIZE.honest * TICKS_PER_S * (SIZE.storm_s - 5)
    assert watch.more_mib < MOST_MORE_MIB
    assert watch.failures == []
    assert watch.answers > 0
    assert [name for name, of_attack in outcomes.items() if not of_attack] == []
    assert {"rules", "unfinished"} <= drops.keys(), "who broke these was not dropped for it"
    assert log == "", "whoever attacks could fill the log"
    assert turns["longest_turn_ms"] < LONGEST_TURN_MS
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


def dropped(port: int) -> dict[str, int]:
    """Connections that were dropped, by reason."""
    told = {name: value for name, value in metrics(port).items() if name.startswith("drops_total")}
    return {name.split('reason="')[1][:-2]: int(value) for name, value in told.items() if value}


def tell(outcomes: dict[str, Any], **figures: object) -> None:
    """The figures, for who looks at the output (pytest -s, or a failure)."""
    print(f"\n{SIZE}")  # noqa: T201
    for name, value in (figures | outcomes).items():
        print(f"{name}: {value}")  # noqa: T201
