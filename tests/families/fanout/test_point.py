from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.plan.cases import Case, as_work
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.spec.settling import SettlingTerms
from streamgauge.spec.workload import Workload

GATEWAY = {"name": "gateway", "driver": "push_websocket"}
GROUPS = {"name": "kafka-groups", "driver": "kafka_confluent"}
ALONE = {"name": "kafka-standalone", "driver": "kafka_confluent"}


def cases(*targets: dict[str, str], **fanout: Any) -> tuple[Case, ...]:
    groups = [target["name"] for target in targets if target is GROUPS]
    content = {"targets": list(targets), "fanout": {"clients": [10, 20], "groups": groups, **fanout}}
    return make_plan(Workload.model_validate(content), "run").cases


def points_of(found: tuple[Case, ...]) -> list[FanoutPoint]:
    return [as_work(case.work, FanoutPoint) for case in found]


def point(clients: int, **fanout: Any) -> FanoutPoint:
    asked = Fanout(clients=(clients,), **fanout)
    return FanoutPoint(scenario="2", clients=clients, via="gateway", series="gateway", fanout=asked)


def test_series_go_from_few_to_many_by_every_way() -> None:
    found = [(c.via, c.clients) for c in points_of(cases(GATEWAY, GROUPS, ALONE))]
    ways = ("gateway", "kafka-groups", "kafka-standalone")
    assert found == [(way, clients) for way in ways for clients in (10, 20)]


def test_how_a_gateway_maps_json_is_nothing_to_kafka() -> None:
    found = cases(GATEWAY, GROUPS, scenarios=["3", "3jp", "3full"], clients=[10])
    assert [c.series for c in points_of(found)] == [
        "gateway 3",
        "gateway 3jp",
        "gateway 3full",
        "kafka-groups 3",
    ]


def test_every_client_is_in_one_process() -> None:
    agents = list(point(40_001, push_clients_per_process=19_000).agents())
    assert [agent.kind for agent in agents] == ["producer", "swarm", "swarm", "swarm"]
    shares = [agent.share for agent in agents if agent.share is not None]
    assert [first for first, _ in shares] == [0, 13_333, 26_667]
    assert sum(count for _, count in shares) == 40_001
    assert max(count for _, count in shares) <= 19_000


def test_gateways_and_swarms_are_on_the_hosts_that_were_named_and_every_gateway_has_a_swarm() -> None:
    agents = list(point(5, gateway_hosts=("g1", "g2", "g3"), swarm_hosts=("s1", "s2")).agents())
    assert [(agent.agent, agent.hostname) for agent in agents] == [
        ("producer-0", None),
        ("gateway-0", "g1"),
        ("gateway-1", "g2"),
        ("gateway-2", "g3"),
        ("swarm-0", "s1"),
        ("swarm-1", "s2"),
        ("swarm-2", "s1"),
    ]
    assert [agent.share for agent in agents if agent.share] == [(0, 1), (1, 2), (3, 2)]
    of_kafka = point(5, gateway_hosts=("g1",)).model_copy(update={"via": "kafka-standalone"})
    assert [agent.kind for agent in of_kafka.agents()] == ["producer", "swarm"]
    assert point(34_000, gateway_hosts=("g1", "g2")).gateway_processes == 1


def test_gateways_are_started_or_are_there_but_not_both() -> None:
    there = {**GATEWAY, "settings": {"gateway": "http://box:8080"}}
    with pytest.raises(ValueError, match="target gateway names a gateway that runs; leave out one of them"):
        cases(there, gateway_hosts=["g1"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="names a value twice: g1, g1"):
        cases(GATEWAY, gateway_hosts=["g1", "g1"])


def test_measured_clients_are_drawn_over_the_order_of_connecting() -> None:
    drawn = sorted(point(10_000, measured=500).measured(seed=3))
    assert len(drawn) == 500
    quarters = np.histogram(drawn, bins=4, range=(0, 10_000))[0]
    assert quarters.min() > 90, "no part of the order is left out"
    assert drawn != sorted(point(10_000, measured=500).measured(seed=4))
    assert point(20, measured="all").measured(1) == frozenset(range(20))
    assert len(point(20, measured=500).measured(1)) == 20


def test_clients_follow_every_key() -> None:
    keys = point(8000).keys(seed=1, of=40)
    counts = np.bincount(keys)
    assert len(counts) == 40
    assert counts.min() > 130
    assert point(10).keys(1, 0).max() == 0


def test_a_plan_is_read_as_it_was_written() -> None:
    content = {"targets": [GATEWAY], "fanout": {"clients": [10], "scenarios": ["1"]}}
    plan = make_plan(Workload.model_validate(content), "run")
    assert plan.kind == "fanout"
    assert Plan.model_validate(plan.model_dump(mode="json", by_alias=True)) == plan


def test_gateway_processes_grow_with_the_clients() -> None:
    assert [point(n).gateway_processes for n in (1, 17_000, 17_001, 40_000)] == [1, 1, 2, 3]
    assert point(1, gateway_processes=4).gateway_processes == 4


def test_kafka_clients_come_slowly_unless_told_otherwise() -> None:
    found = {c.via: c.ramp_up_per_s for c in points_of(cases(GATEWAY, GROUPS, ALONE))}
    assert found == {"gateway": 2000, "kafka-groups": 200, "kafka-standalone": 200}
    told = cases(GATEWAY, GROUPS, ramp_up_per_s="50/s")
    assert {c.ramp_up_per_s for c in points_of(told)} == {50}


def test_more_clients_have_the_keys_of_fewer_and_some_more() -> None:
    """So that points of one run, whose seed is the same, differ by their way and not by the draw."""
    assert point(4000).keys(7, 40)[:1000].tolist() == point(1000).keys(7, 40).tolist()


def test_only_a_gateway_with_a_limit_leaves_updates_out() -> None:
    assert not point(1).is_conflated
    assert point(1, max_frequency=1.0).is_conflated
    assert point(1, max_frequency="unlimited").is_conflated
    assert not point(1, max_frequency=1.0).model_copy(update={"via": "kafka-groups"}).is_conflated


def test_a_warm_up_until_at_rest_is_not_planned() -> None:
    settling = point(10, duration=60.0, warm_up_limit=20.0)
    assert settling.settling == SettlingTerms(20.0, 60.0, slots_together=1)
    assert settling.message_count == 6000
    assert settling.schedule(0).message_count is None
    assert point(10, warm_up=2.0).settling is None


@pytest.mark.parametrize(("pause_s", "together"), [(0.25, 1), (0.5, 2), (1.0, 4), (2.5, 10)])
def test_slots_of_a_slow_load_are_as_long_as_its_pause(pause_s: float, together: int) -> None:
    terms = point(10, producers=1, pause=pause_s).settling
    assert terms is not None
    assert terms.slots_together == together


@pytest.mark.parametrize(("given", "limit_s"), [({"warm_up": "2s"}, 72.0), ({}, 70.0)])
def test_a_case_may_take_as_long_as_its_schedule_and_some_more(given: dict[str, Any], limit_s: float) -> None:
    """The limit of a warm-up that goes on until at rest is for the launcher to add."""
    assert {case.time_limit_s for case in cases(GATEWAY, duration="10s", **given)} == {limit_s}
