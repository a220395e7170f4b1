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
from streamgauge.families.fanout.targets import is_of_a_gateway
from streamgauge.families.fanout.workload import FanoutWorkload
from streamgauge.faults.gateways import GATEWAY_RESTART
from streamgauge.launch.conduct import CaseSystem, Conduct, Judgement
from streamgauge.launch.served_load import PACKED_ROW_BYTES, ServedLoad
from streamgauge.launch.target_system import TargetSystem
from streamgauge.plan.cases import Case, as_work
from streamgauge.spec.target import Target
from streamgauge.spec.workload import Workload


class FanoutConduct(Conduct):
    def check(self, workload: Workload) -> None:
        assert isinstance(workload, FanoutWorkload)
        for url in workload.fanout.broker_metrics:
            asked(url)

    def why_impossible(self, case: Case) -> str | None:
        return why_no_swarms(case.target) or _why_no_gateway(case.target) or _why_no_faults(case)

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

    def settles(self, case: Case) -> bool:
        return _point(case).settling is not None

    def served_load(self, case: Case) -> ServedLoad:
        """Measured clients' updates, which swarms keep until the case is over; live figures are small."""
        point = _point(case)
        rows = point.message_count + point.measured_updates
        return ServedLoad(case.id, len(case.agents), point.rate_per_s, 0.0, rows * PACKED_ROW_BYTES)

    def watch(self, run: RunDir, case: Case, console: Console) -> MinuteBlocks:
        return MinuteBlocks(run, case, console)


def _why_no_faults(case: Case) -> str | None:
    point, target = _point(case), case.target
    if not point.faults:
        return None
    other = next((fault.kind for fault in point.faults if fault.kind != GATEWAY_RESTART), None)
    if other is not None:
        return f"fanout.faults: {other} is for loads (load.faults); here there is {GATEWAY_RESTART}"
    if point.via != "gateway":
        return f"fanout.faults: {GATEWAY_RESTART}: clients of target {target.name} come to no gateway"
    if target.settings.get("gateway"):
        return (
            f"fanout.faults: {GATEWAY_RESTART} is done to what the run itself started, and target "
            f"{target.name} names a gateway that runs already; leave out settings.gateway"
        )
    if point.gateway_hosts:
        return f"fanout.faults: {GATEWAY_RESTART}: only a gateway on the launcher's host is started again"
    return None


def _why_no_gateway(target: Target) -> str | None:
    """One that we start gets a file, in a folder that is kept: no place for a secret."""
    is_locked = target.system is not None and target.system.is_locked
    if not (is_locked or target.settings.get("security_file")):
        return None
    if not is_of_a_gateway(target) or target.settings.get("gateway"):
        return None
    return (
        f"target {target.name}: a gateway that the run starts cannot log in at a secured Kafka; start one "
        "yourself (streamgauge gateway) and give --gateway, or use --via kafka"
    )


def _point(case: Case) -> FanoutPoint:
    return as_work(case.work, FanoutPoint)
