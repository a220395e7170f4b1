from __future__ import annotations

from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.families.fanout.swarm_life import SwarmLife, left_out
from streamgauge.plan.agent_tasks import AgentTask
from tests.agents.conftest import Assign


def test_what_did_not_come_is_missing() -> None:
    assert left_out([10, 10, 10], [10, 7, 12], is_conflated=False) == (3, 0)


def test_what_conflation_leaves_out_is_not_missing_but_all_of_it_is() -> None:
    assert left_out([10, 10, 0], [4, 1, 0], is_conflated=True) == (0, 15)
    assert left_out([10, 10, 0], [4, 0, 0], is_conflated=True) == (1, 15)


def test_all_cases_of_a_run_draw_the_same(assign: Assign) -> None:
    """What a scenario saves is told by bytes of two cases: their clients must follow the same keys."""
    fanout = Fanout(clients=(20,), scenarios=("3", "3full"))

    def keys(case: str, tag: int, scenario: str) -> list[int]:
        point = FanoutPoint.model_validate(
            {"scenario": scenario, "clients": 20, "via": "gateway", "series": "gateway", "fanout": fanout}
        )
        task = AgentTask(kind="swarm", number=0, share=(0, 20))
        given = {"case": case, "tag": tag, "task": task, "kind": "fanout", "work": point}
        life = SwarmLife(assign().model_copy(update=given))
        return life.point.keys(life.seed, 40).tolist()

    assert keys("001", 1, "3") == keys("002", 2, "3full")
