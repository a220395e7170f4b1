"""A fault on the timeline: a union tagged by `kind`, whose members are installed."""

from __future__ import annotations

from typing import Annotated, Any, Protocol, Self, cast, runtime_checkable

from pydantic import ConfigDict, Field

from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import BadInput
from streamgauge.spec.model import Seconds, TaggedModel

GROUP = "streamgauge.faults"
"""Of entry points: the name is the kind, the object a class that keeps the contract of faults."""


class FaultSpec(TaggedModel):
    """Validated by this class, content becomes what the fault of its kind wants to know."""

    model_config = ConfigDict(populate_by_name=True)

    at: Annotated[Seconds, Field(ge=0)]
    """Since messages count: after the warm-up."""
    for_: Annotated[Seconds, Field(gt=0)] | None = Field(default=None, alias="for")
    """How long it lasts; without it as its kind does: a moment, until the case ends, or for good."""

    @property
    def killed_agent(self) -> str | None:
        """Whose process it ends; None: of none."""
        return None

    @classmethod
    def usual_kind(cls, content: dict[str, Any]) -> str:
        raise BadInput(f"say which fault; allowed: {', '.join(fault_kinds())}")

    @classmethod
    def member(cls, kind: str) -> type[Self]:
        return cast("type[Self]", fault_class(kind).spec_model)


@runtime_checkable
class DisturbedWork(Protocol):
    """What a case is about, where faults may be done meanwhile."""

    @property
    def faults(self) -> tuple[FaultSpec, ...]: ...

    @property
    def fixed_warm_up_s(self) -> float:
        """How long nothing counts, where that was said beforehand; else 0."""


def fault_kinds() -> list[str]:
    return list(points_of(GROUP))


def fault_class(kind: str) -> Any:
    """The class of a kind of fault."""
    point = points_of(GROUP).get(kind) if isinstance(kind, str) else None
    if point is None:
        raise BadInput(f"there is no fault {kind!r}; allowed: {', '.join(fault_kinds())}")
    found = load(point, f"fault {kind}")
    model = getattr(found, "spec_model", None)
    if not (isinstance(model, type) and issubclass(model, FaultSpec)):
        raise BadInput(f"fault {kind}: {point.value} is not a streamgauge fault")
    return found
