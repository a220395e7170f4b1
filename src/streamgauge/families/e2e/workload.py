"""The workload of `e2e`."""

from __future__ import annotations

from typing import Literal

from streamgauge.spec.load import Load
from streamgauge.spec.workload import Workload


class EndToEndWorkload(Workload):
    """One load, on each target."""

    kind: Literal["e2e"] = "e2e"
    load: Load
