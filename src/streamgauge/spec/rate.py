"""A rate: messages a second, `unlimited`, or a list of steps."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from streamgauge.core.units import parse_rate
from streamgauge.spec.model import RatePerS, Seconds, SpecModel


class Step(SpecModel):
    """One step of a schedule."""

    rate: Annotated[RatePerS, Field(gt=0)]
    for_: Annotated[Seconds, Field(gt=0)] = Field(alias="for")
    """How long it lasts."""


def _rate(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() == "unlimited":
        return "unlimited"
    if isinstance(value, (int, float, str)):
        return parse_rate(value)
    return value


def _branch(value: Any) -> str:
    if value == "unlimited":
        return "<unlimited>"
    return "<steps>" if isinstance(value, (list, tuple)) else "<constant>"


# Branches are told apart before validation, so that an error speaks of the branch that was meant.
Rate = Annotated[
    Annotated[float, Tag("<constant>")]
    | Annotated[Literal["unlimited"], Tag("<unlimited>")]
    | Annotated[tuple[Step, ...], Tag("<steps>")],
    Discriminator(_branch),
    BeforeValidator(_rate),
]
