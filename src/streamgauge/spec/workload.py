"""A workload: what every kind of it has; the family that its `kind` names adds the rest."""

from __future__ import annotations

from typing import Any, Self, cast

from pydantic import Field, ValidationInfo, field_validator, model_validator

from streamgauge.spec.families import family_of, kind_by_fields
from streamgauge.spec.model import TaggedModel
from streamgauge.spec.objective import Objective, objectives_of
from streamgauge.spec.target import Target


class Workload(TaggedModel):
    """A file for `streamgauge run`. Validated by this class, content becomes the workload of its family:
    a union tagged by `kind`, whose members are whatever families are installed."""

    kind: str
    """Of which family it is. Files that name none are told by their fields."""
    name: str = "run"
    targets: tuple[Target, ...] = Field(min_length=1)
    objectives: tuple[Objective, ...] = ()
    """What figures of every case have to keep to; the run says of each whether they do."""

    @classmethod
    def usual_kind(cls, content: dict[str, Any]) -> str:
        return kind_by_fields(content)

    @classmethod
    def member(cls, kind: str) -> type[Self]:
        return cast("type[Self]", family_of(kind).workload_model())

    @field_validator("objectives", mode="before")
    @classmethod
    def _of_its_figures(cls, given: Any, info: ValidationInfo) -> Any:
        return objectives_of(info.data["kind"], given) if "kind" in info.data else ()

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        return Target._plain_name(name)

    @model_validator(mode="after")
    def _distinct_targets(self) -> Workload:
        names = [target.name for target in self.targets]
        if len(set(names)) != len(names):
            raise ValueError(f"targets have the same name: {', '.join(names)}")
        return self
