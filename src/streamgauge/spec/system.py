"""What a target runs against, where we start it: a union tagged by `kind`, whose members are installed."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Protocol, Self, cast

from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import BadInput
from streamgauge.spec.model import TaggedModel
from streamgauge.spec.reach import NativeSettings

GROUP = "streamgauge.systems"
"""Of entry points: the name is the kind, the object a class that keeps the contract of systems."""


class SystemSpec(TaggedModel):
    """Validated by this class, content becomes what the system of its kind wants to know."""

    properties: NativeSettings = {}
    """The system's own, beside or instead of ours."""

    @property
    def most_replicas(self) -> int | None:
        """Of a topic; None: nobody counts them."""
        return None

    @property
    def is_locked(self) -> bool:
        """Whether clients have to show who they are."""
        return False

    @property
    def process_count(self) -> int:
        """That share the machine's cores with what is measured."""
        return 1

    @classmethod
    def usual_kind(cls, content: dict[str, Any]) -> str:
        return default_kind()

    @classmethod
    def member(cls, kind: str) -> type[Self]:
        return cast("type[Self]", system_class(kind).spec_model)


class SystemClass(Protocol):
    """What is to be known of a system before it is started."""

    spec_model: ClassVar[type[SystemSpec]]
    is_default: ClassVar[bool]


def system_class(kind: str) -> Any:
    """The class of a kind of system."""
    point = points_of(GROUP).get(kind) if isinstance(kind, str) else None
    if point is None:
        raise BadInput(f"there is no system of kind {kind!r}; allowed: {', '.join(points_of(GROUP))}")
    found: SystemClass = load(point, f"system {kind}")
    if not (
        isinstance(getattr(found, "spec_model", None), type) and issubclass(found.spec_model, SystemSpec)
    ):
        raise BadInput(f"system {kind}: {point.value} is not a streamgauge system")
    return found


@cache
def default_kind() -> str:
    """Of a system that is only asked for: `system: {}`."""
    for kind in points_of(GROUP):
        if system_class(kind).is_default:
            return kind
    raise BadInput(f"say which; allowed: {', '.join(points_of(GROUP))}")
