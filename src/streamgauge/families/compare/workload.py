"""The workload of `compare`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from streamgauge.families.compare.section import Comparison
from streamgauge.spec.workload import Workload


class CompareWorkload(Workload):
    """Two targets, A and B, and what they are put through."""

    kind: Literal["compare"] = "compare"
    comparison: Comparison

    @model_validator(mode="after")
    def _two_to_compare(self) -> CompareWorkload:
        if len(self.targets) != 2:
            raise ValueError(f"comparison: needs two targets, A and B, not {len(self.targets)}")
        systems = [target.system for target in self.targets]
        if systems[0] != systems[1]:
            raise ValueError("comparison: both targets must have the same `system`: it is started once")
        return self
