"""The workload of `sweep`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from streamgauge.spec.load import Load
from streamgauge.spec.model import Count
from streamgauge.spec.ranges import swept_fields
from streamgauge.spec.workload import Workload


class SweepWorkload(Workload):
    """One load, and what to change in it."""

    kind: Literal["sweep"] = "sweep"
    load: Load
    sweep: dict[str, tuple[Any, ...]] = {}
    """Values for fields of `load`, by dotted path: `message.size: [100, 1KiB]`, or a range `1:64:*2`;
    crossed with each other."""
    cases: tuple[dict[str, Any], ...] = ()
    """Cases one by one, each with its values for fields of `load`; crossed with `sweep`."""
    iterations: Count = Field(default=1, ge=1)
    """How often all of it is done, one round after another."""

    _ranges = field_validator("sweep", mode="before")(swept_fields)
