"""How a fan-out is conducted: a gateway for each case that needs one, a series until it does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from rich.console import Console

from streamgauge.agents.diary import Manifest
from streamgauge.core.outside import Outside
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.swarm import why_no_swarms
from streamgauge.families.fanout.broker_metrics import asked
from streamgauge.families.fanout.case_servers import case_servers
from streamgauge.families.fanout.hold import hold_of
from streamgauge.families.fanout.minutes import MinuteBlocks
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.workload import FanoutWorkload
from streamgauge.launch.conduct import CaseSystem, Conduct, Judgement
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work
from streamgauge.spec.workload import Workload


class FanoutConduct(Conduct):
    def check(self, workload: Workload) -> None:
        assert isinstance(workload, FanoutWorkload)
        for url in workload.fanout.broker_metrics:
            asked(url)

    def why_impossible(self, case: Case) -> str | None:
        return why_no_swarms(case.target)

    def around(
        self, run: RunDir, case: Case, system: TargetSystem, outside: Outside | None = None
    ) -> AbstractContextManager[CaseSystem]:
        return case_servers(run, case, system, outside)

    def judge(self, case: Case, manifests: Sequence[Manifest]) -> Judgement:
        return hold_of(_point(case), manifests)

    def words_of(self, case: Case) -> str:
        return f"{_point(case).clients:,} clients"

    def message_count(self, case: Case) -> int:
        return _point(case).message_count

    def watch(self, run: RunDir, case: Case, console: Console) -> MinuteBlocks:
        return MinuteBlocks(run, case, console)


def _point(case: Case) -> FanoutPoint:
    return as_work(case.work, FanoutPoint)
