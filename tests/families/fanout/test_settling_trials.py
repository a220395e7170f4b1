"""When is a fan-out at rest? Planted transients, through all that agents and launcher do with latencies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamgauge.agents.rendezvous import Levels
from streamgauge.core.run_dir import RunDir
from streamgauge.core.steady_state import LEAST_SLOTS, SLOT_NS, SLOT_S
from streamgauge.drivers.simulated.simulation import Laws, latencies_ns, swayed_ns
from streamgauge.families.fanout.heard_updates import HeardUpdates, NewUpdates
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.launch.levels import levels_of
from streamgauge.launch.meeting import Call
from streamgauge.launch.settling import Settling, look_at
from streamgauge.plan.warm_up_file import WarmUpEnding

CLIENTS = 40
START_NS, WALL = 7_000_000_000, 1_700_000_000_000_000_000
LIMIT_S, MEASURED_S = 40.0, 10.0


def point_of(rate_per_s: float) -> FanoutPoint:
    fanout = Fanout(
        clients=(CLIENTS,), producers=1, pause=1 / rate_per_s, duration=MEASURED_S, warm_up_limit=LIMIT_S
    )
    return FanoutPoint(scenario="1", clients=CLIENTS, via="gateway", series="gateway", fanout=fanout)


def told_by_a_swarm(point: FanoutPoint, transients: list[dict[str, Any]], seconds: float) -> Levels:
    """What its clients get by the simulated broker's laws, told a slot after another."""
    schedule, updates = point.schedule(START_NS), HeardUpdates()
    new = NewUpdates(updates, schedule, WALL)
    laws = Laws.model_validate(
        {
            "seed": 17,
            "latency": {"law": "lognormal", "median_ms": 8, "sigma": 0.3},
            "transients": transients,
        }
    )
    due_ns = np.array([schedule.due_ns(n) for n in range(int(seconds * point.rate_per_s))])
    stamps, received = np.tile(due_ns + WALL, CLIENTS), np.empty(0, np.int64)
    for client in range(CLIENTS):
        drawn = latencies_ns(laws, client, 0, len(due_ns))
        received = np.append(received, due_ns + swayed_ns(laws, drawn, due_ns - START_NS))
    order, place, told = np.argsort(received), 0, list[tuple[int, float | None, float]]()
    for slot in range(1, int(seconds / SLOT_S) + 1):
        while place < len(order) and received[order[place]] < START_NS + slot * SLOT_NS:
            updates.add(0, int(stamps[order[place]]), int(received[order[place]]))
            place += 1
        got = np.concatenate([*new.take(), np.empty(0, np.int64)])
        told.append((len(got), float(np.median(got)) if len(got) else None, 0.05 * slot))
    return told


class Unheard(Call):
    """Nobody has to hear what is said."""

    def __init__(self) -> None:
        super().__init__(RunDir("/nowhere"), "")

    def say(self, word: str, content: object) -> None: ...


def measured_since(point: FanoutPoint, told: Levels) -> tuple[float, WarmUpEnding]:
    """As the launcher finds it, while the load goes on."""
    terms = point.settling
    assert terms is not None
    settling = Settling(terms, ["swarm-0"], {}, Unheard(), 0.4)
    for now in range(2 * terms.slots_together, len(told) + 1, 2):
        rows = [[list(row) for row in told[:now]]]
        levels = levels_of(rows, None, terms.slots_together)
        rest = look_at(levels, LEAST_SLOTS).rest
        settling.judge(now, None if rest is None else rest * terms.slots_together, levels.latency_ms)
        if settling.slot is not None and (now - settling.slot) * SLOT_S >= MEASURED_S:
            return settling.slot * SLOT_S, settling.ending
    raise AssertionError("it went on beyond its limit")


STEP = {"shape": "step", "times": 5, "at": 6.0}
DECAY = {"shape": "decay", "times": 10, "for": 1.0}


@pytest.mark.parametrize(
    ("rate_per_s", "transients", "rest_s", "off_s"),
    [
        (4.0, [], 0.0, 1.0),
        (4.0, [STEP], 6.0, 1.0),
        (4.0, [DECAY], 4.6, 1.5),
        (100.0, [STEP], 6.0, 1.0),
        (100.0, [DECAY], 4.6, 1.0),
        (1.0, [STEP], 6.0, 2.0),  # a message a second: slots of a second
    ],
)
def test_measuring_begins_when_a_planted_transient_is_over(
    rate_per_s: float, transients: list[dict[str, Any]], rest_s: float, off_s: float
) -> None:
    point = point_of(rate_per_s)
    begun_s, ending = measured_since(point, told_by_a_swarm(point, transients, LIMIT_S + MEASURED_S + 2))
    assert ending is WarmUpEnding.AT_REST
    # A slow load is measured for a whole time of its own: what has passed of it when rest is sure is lost.
    latest_s = max(rest_s + off_s, 0 if rate_per_s >= 4 else LEAST_SLOTS / rate_per_s)
    assert rest_s - off_s <= begun_s <= latest_s


@pytest.mark.parametrize("rate_per_s", [4.0, 100.0])
@pytest.mark.parametrize(
    "transient", [{"shape": "ramp", "times": 1.0}, {"shape": "oscillation", "times": 0.7, "for": 6.0}]
)
def test_what_never_rests_comes_to_the_limit(rate_per_s: float, transient: dict[str, Any]) -> None:
    point = point_of(rate_per_s)
    told = told_by_a_swarm(point, [transient], LIMIT_S + MEASURED_S + 2)
    begun_s, ending = measured_since(point, told)
    assert ending is WarmUpEnding.LIMIT
    assert begun_s <= LIMIT_S + 1
