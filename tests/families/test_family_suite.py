"""Every family of ours passes the suite that others inherit."""

from __future__ import annotations

from streamgauge.plan.plan_file import make_plan
from streamgauge.testing.family_suite import FamilySuite

ONE = {"targets": [{"name": "a", "driver": "simulated"}]}
TWO = {"targets": [{"name": "a", "driver": "simulated"}, {"name": "b", "driver": "simulated"}]}


class TestEndToEnd(FamilySuite):
    kind = "e2e"
    content = {**TWO, "load": {"messages": 100}}


class TestSweep(FamilySuite):
    kind = "sweep"
    content = {**TWO, "load": {"messages": 100}, "sweep": {"message.size": "64:256:*2"}, "iterations": 2}


class TestLimit(FamilySuite):
    kind = "limit"
    content = {**ONE, "load": {"duration": "2s"}, "search": {}, "objectives": ["p99<20ms", "lost=0"]}


class TestCompare(FamilySuite):
    kind = "compare"
    content = {**TWO, "comparison": {"lengths": [10], "messages": [10]}}


class TestTransports(FamilySuite):
    kind = "transports"
    content = {**TWO, "load": {"messages": 10}, "cases": [{"rate": 1000.0}], "harness": "a"}


class TestFanout(FamilySuite):
    kind = "fanout"
    content = {**TWO, "fanout": {"clients": [10, 20], "scenarios": ["1", "2"]}}


class TestImported(FamilySuite):
    kind = "imported"
    content = {
        **ONE,
        "imported": [
            {"file": "a.txt", "sha256": "0" * 64, "format": "k6", "tool": "a", "settings": {"x": 1}}
        ],
    }

    def test_cases_and_agents_have_names_of_their_own(self) -> None:
        """Nobody has anything to do: it was measured elsewhere."""
        cases = make_plan(self._workload(), "run-1").cases
        assert [case.id for case in cases] == ["001"]
        assert cases[0].agents == ()
