"""What every part of a workload or target has in common: unknown fields are errors."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from streamgauge.core import units


class SpecModel(BaseModel):
    """A part of a file that a user writes."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def fault_at(field: str, words: str, given: object) -> ValidationError:
    """For a validator of the whole that knows which field is at fault."""
    fault = InitErrorDetails(type=PydanticCustomError("value_error", words), loc=(field,), input=given)
    return ValidationError.from_exception_data("fields", [fault])


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
