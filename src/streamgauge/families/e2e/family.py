"""`e2e`: one load on each target, every message accounted for with its times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from streamgauge.spec.family import Family

if TYPE_CHECKING:
    from streamgauge.families.e2e.workload import EndToEndWorkload
    from streamgauge.plan.cases import Case


class EndToEnd(Family["EndToEndWorkload"]):
    kind = "e2e"
    is_default = True
    commands: ClassVar = {
        "e2e": "Send messages through Kafka and account for every one, with its four times."
    }

    def workload_model(self) -> type[EndToEndWorkload]:
        from streamgauge.families.e2e.workload import EndToEndWorkload

        return EndToEndWorkload

    def expand(self, workload: EndToEndWorkload, run_id: str) -> list[Case]:
        from streamgauge.plan.cases import load_case

        return [
            load_case(self.kind, target, workload.load, f"{number:03d}", run_id, parameters={})
            for number, target in enumerate(workload.targets, 1)
        ]

    def renewed(self, old_plan: dict[str, Any]) -> dict[str, Any] | None:
        from streamgauge.plan.old_plans import renewed_plan

        return renewed_plan(old_plan, self.kind)

    def command(self, name: str) -> Callable[..., Any]:
        from streamgauge.families.e2e.command import e2e

        return e2e
