"""What was measured by another tool can be neither run nor analysed by us: both say so."""

from __future__ import annotations

from typing import NoReturn

from streamgauge.core.errors import BadInput
from streamgauge.launch.conduct import Conduct
from streamgauge.spec.workload import Workload


class NotToBeRun(Conduct):
    def check(self, workload: Workload) -> None:
        raise BadInput(
            f"{workload.name}: was measured by another tool and cannot be run; take its files in with: "
            "streamgauge import FILE…"
        )


def nothing_to_analyse(session: object, run: object, plan: object) -> NoReturn:
    raise BadInput("an imported run has no events to analyse: its figures are those of another tool")
