"""expectations.yaml: what a run has to keep to, by itself and against a baseline: objectives' grammar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.spec.families import family_of
from streamgauge.spec.loading import parse, read_mapping
from streamgauge.spec.metrics import AT_LEAST, BELOW, BoundUnit, Metric, Metrics
from streamgauge.spec.model import SpecModel
from streamgauge.spec.objective import Objective, read_objectives


@dataclass(frozen=True)
class _OfBaseline(Metrics):
    """The same figures as shares of the baseline's."""

    def find(self, name: str) -> Metric | None:
        found = super().find(name)
        return None if found is None else replace(found, units=(BoundUnit.PERCENT,))


OF_BASELINE = _OfBaseline(
    (
        Metric("mean", (BoundUnit.PERCENT,), BELOW, is_quoted=True),
        Metric("rate", (BoundUnit.PERCENT,), AT_LEAST, is_quoted=True),
    )
)


class _File(SpecModel):
    objectives: Any = ()
    baseline: Any = ()


@dataclass(frozen=True)
class Expectations:
    objectives: tuple[Objective, ...]
    baseline: tuple[Objective, ...]


def load_expectations(path: Path, kind: str) -> Expectations:
    """For a run of this kind: a figure that its cases do not have is refused, with those that they have."""
    written = parse(_File, read_mapping(path), str(path))
    found = Expectations(
        _read(path, "objectives", written.objectives, family_of(kind).metrics()),
        _read(path, "baseline", written.baseline, OF_BASELINE),
    )
    if not (found.objectives or found.baseline):
        raise BadInput(f"{path}: expects nothing; give objectives, baseline or both, as in p99<20ms")
    return found


def _read(path: Path, field: str, given: Any, metrics: Metrics) -> tuple[Objective, ...]:
    try:
        return read_objectives(given, metrics)
    except ValueError as error:
        raise BadInput(f"{path}: {field}: {error}") from None
