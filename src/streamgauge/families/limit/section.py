"""A search for the limit: the highest rate at which every objective is held."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from streamgauge.spec.metrics import OF_MESSAGES, VALID
from streamgauge.spec.model import RatePerS, Seconds, SpecModel
from streamgauge.spec.objective import Objective, read_objectives

LEAST_MESSAGES = 100
"""Of a step: of fewer, a percentile says nothing, and a loss may not have happened yet."""


class Search(SpecModel):
    """Steps upwards until one misses an objective, then halving; `load.duration` is that of a step."""

    slo: tuple[Objective, ...] = Field(min_length=1)
    """Those of the workload's objectives that a step is judged by."""
    from_: Annotated[RatePerS, Field(ge=1)] = Field(default=1000.0, alias="from")
    "Messages per second of the first step."
    to: Annotated[RatePerS, Field(ge=1)] = 2_000_000.0
    """No step goes beyond this."""
    factor: float = Field(default=2.0, ge=1.1, le=10)
    """From one step to the next, until one breaks an objective."""
    within_percent: float = Field(default=2.0, ge=0.1, le=50)
    """The search ends when the rate that holds and the one that does not are as near as that."""
    warm_up: Annotated[Seconds, Field(ge=0)] = 1.0
    """Ahead of every step, at its rate, kept apart."""
    first_warm_up: Annotated[Seconds, Field(ge=0)] = 5.0
    """Ahead of the first step: a broker that has just started is slower until its code is compiled."""
    time_limit: Annotated[Seconds, Field(gt=0)] = 900.0
    """No step is begun that would end after this; what is known by then is the answer."""

    @model_validator(mode="after")
    def _upwards(self) -> Search:
        if self.from_ > self.to:
            raise ValueError(f"from: {self.from_:g}/s is above the highest rate, to: {self.to:g}/s")
        return self

    @field_validator("slo", mode="before")
    @classmethod
    def _on_figures_of_a_step(cls, given: Any) -> Any:
        found = read_objectives(given, OF_MESSAGES)
        if any(objective.metric == VALID for objective in found):
            raise ValueError(
                "whether a step is valid is known at the end of the run: write it as `objectives`"
            )
        return found
