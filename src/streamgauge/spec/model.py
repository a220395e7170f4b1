"""What every part of a workload or target has in common: unknown fields are errors."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from streamgauge.core import units
from streamgauge.core.errors import BadInput


class SpecModel(BaseModel):
    """A part of a file that a user writes."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class TaggedModel(SpecModel):
    """A union tagged by `kind`, whose members are installed: validated by the class that is the union,
    content becomes the member of its kind."""

    kind: str

    @classmethod
    def usual_kind(cls, content: dict[str, Any]) -> str:
        """Of content that names none."""
        raise NotImplementedError

    @classmethod
    def member(cls, kind: str) -> type[Self]:
        raise NotImplementedError

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_kind(cls, content: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if TaggedModel not in cls.__bases__ or not isinstance(content, dict):
            return handler(content)
        try:
            kind = content["kind"] if "kind" in content else cls.usual_kind(content)
            model = cls.member(kind)
        except BadInput as error:
            raise fault_at("kind", str(error), content.get("kind")) from None
        return model.model_validate({**content, "kind": kind})

    @model_serializer(mode="wrap")
    def _with_kind(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The tag is never left out, though it is the default of every member."""
        return {"kind": self.kind, **serialize(self)}


def fault_at(field: str, words: str, given: object) -> ValidationError:
    """For a validator of the whole that knows which field is at fault."""
    fault = InitErrorDetails(type=PydanticCustomError("value_error", words), loc=(field,), input=given)
    return ValidationError.from_exception_data("fields", [fault])


V = TypeVar("V")


def distinct(values: tuple[V, ...]) -> tuple[V, ...]:
    """For fields that list what is gone through one by one."""
    if not values:
        raise ValueError("has no values")
    if len(set(values)) != len(values):
        raise ValueError(f"names a value twice: {', '.join(map(str, values))}")
    return values


def _quantity(parse: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: value if value is None else parse(value))


Bytes = Annotated[int, _quantity(units.parse_bytes)]
Seconds = Annotated[float, _quantity(units.parse_seconds)]
Count = Annotated[int, _quantity(units.parse_count)]
RatePerS = Annotated[float, _quantity(units.parse_rate)]


def _scalar(value: Any) -> Any:
    endless = isinstance(value, float) and not math.isfinite(value)
    if not isinstance(value, (str, int, float)) or endless:
        raise ValueError(f"must be text, a number, true or false, not {value!r}")
    return value


Setting = Annotated[str | int | float | bool, BeforeValidator(_scalar)]
"""A native setting, handed on as it is."""
