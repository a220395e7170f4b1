"""What a target runs against, where we start it: a union tagged by `kind`, whose members are installed."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Protocol

from pydantic import (
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import BadInput
from streamgauge.spec.model import Setting, SpecModel, fault_at

GROUP = "streamgauge.systems"
"""Of entry points: the name is the kind, the object a class that keeps the contract of systems."""


class SystemSpec(SpecModel):
    """Validated by this class, content becomes what the system of its kind wants to know."""

    kind: str
    properties: dict[str, Setting] = {}
    """The system's own, beside or instead of ours."""

    @property
    def most_replicas(self) -> int | None:
        """Of a topic; None: nobody counts them."""
        return None

    @property
    def process_count(self) -> int:
        """That share the machine's cores with what is measured."""
        return 1

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_kind(cls, content: Any, handler: ModelWrapValidatorHandler[SystemSpec]) -> SystemSpec:
        if cls is not SystemSpec or not isinstance(content, dict):
            return handler(content)
        try:
            kind = content["kind"] if "kind" in content else default_kind()
            model = system_class(kind).spec_model
        except BadInput as error:
            raise fault_at("kind", str(error), content.get("kind")) from None
        found: SystemSpec = model.model_validate({**content, "kind": kind})
        return found

    @model_serializer(mode="wrap")
    def _with_kind(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **serialize(self)}


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
