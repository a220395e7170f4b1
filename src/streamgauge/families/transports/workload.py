"""The workload of `transports`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from streamgauge.spec.load import Load
from streamgauge.spec.model import SpecModel
from streamgauge.spec.workload import Workload


class Ladder(SpecModel):
    """What the plan keeps beside the cases."""

    harness: str | None = None
    """The target that measures what everything but a transport costs."""


class TransportsWorkload(Workload):
    """Each target is a transport, and is given every step of the ladder."""

    kind: Literal["transports"] = "transports"
    load: Load
    cases: tuple[dict[str, Any], ...] = Field(min_length=1)
    """The steps, each with its values for fields of `load`."""
    harness: str | None = None
    """The target that measures what everything but a transport costs."""

    @model_validator(mode="after")
    def _known_harness(self) -> TransportsWorkload:
        names = [target.name for target in self.targets]
        if self.harness is not None and self.harness not in names:
            raise ValueError(f"harness: {self.harness} is not a target; allowed: {', '.join(names)}")
        return self
