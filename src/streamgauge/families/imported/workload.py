"""What was imported: files of other tools, and the settings that they tell of."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from streamgauge.spec.model import Setting, SpecModel
from streamgauge.spec.reach import FileName
from streamgauge.spec.workload import Workload


class ImportedWork(SpecModel):
    """One set of figures."""

    file: FileName
    """Where it came from, without its folder; a copy lies in the run folder."""
    sha256: str
    format: str
    tool: str
    version: str | None = None
    settings: dict[str, Setting] = {}


class ImportedWorkload(Workload):
    kind: Literal["imported"] = "imported"
    imported: tuple[ImportedWork, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _known_tools(self) -> Self:
        """A target is a tool."""
        known = {target.name for target in self.targets}
        for work in self.imported:
            if work.tool not in known:
                raise ValueError(f"imported: {work.tool} is none of the targets: {', '.join(sorted(known))}")
        return self
