"""What came of an objective, as a value: met, missed, or not decidable, with the figures that say so."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from streamgauge.core.verdicts import Cause


class Outcome(StrEnum):
    MET = "met"
    MISSED = "missed"
    NOT_DECIDABLE = "not_decidable"


class ObjectiveOutcome(BaseModel):
    """One objective in one case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    objective: str = Field(description="as it was written: p99<20ms")
    metric: str = Field(description="which figure it is on")
    outcome: Outcome
    figure: float | None = Field(description="what it was; of valid and holds 1 or 0; null: not known")
    bound: float | None = Field(description="what it had to keep to; null: it holds or does not")
    unit: str = Field(description="of figure, bound and interval: ms, messages, /s, %; empty: none")
    interval: tuple[float, float] | None = Field(None, description="in which the figure lies, where known")
    causes: list[Cause] = Field(default_factory=list, description="why it is not decidable")


_ORDER = (Outcome.MISSED, Outcome.NOT_DECIDABLE, Outcome.MET)


def worst_outcome(found: Iterable[Outcome]) -> Outcome | None:
    """None: nothing was asked for."""
    there = set(found)
    return next((outcome for outcome in _ORDER if outcome in there), None)
