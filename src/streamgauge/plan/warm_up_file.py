"""warm_ups.json: how the warm-up of each case ended that went on until the load was at rest.

How many messages it took is known only afterwards. It is put into the plan where the plan is read, so that
nobody else has to know that it was not planned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError

from streamgauge.core.case_blocks import note_case, read_by_case
from streamgauge.core.errors import CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.steady_state import Unrest
from streamgauge.plan.agent_tasks import AgentTask, Stream
from streamgauge.spec.model import SpecModel


class WarmUpEnding(StrEnum):
    AT_REST = "at_rest"
    LIMIT = "limit"
    """It was not at rest by `warm_up_limit`; measuring began all the same."""
    UNHEARD = "unheard"
    """The load changed while it was measured, and a producer had ended before it heard of a later slot."""


class Series(StrEnum):
    """What has to be at rest."""

    LATENCY = "latency"
    RATE = "rate"
    """Instead of it, where a load goes as fast as it can."""
    AGENTS_CPU = "agents_cpu"
    SYSTEMS_CPU = "systems_cpu"
    """Of the systems that we started."""


class WarmUpLevels(SpecModel):
    """What each slot of the load was like, from its beginning to the last look."""

    slot_s: float
    latency_ms: list[float] | None = None
    """Median; None: too few slots had a message."""
    rate_per_s: list[float] | None = None
    """Of a load that goes as fast as it can."""
    agents_cores: list[float] | None = None
    systems_cores: list[float] | None = None


class Waiting(SpecModel):
    """What kept the load from rest, since this many slots were over."""

    slot: int
    series: Series
    unrest: Unrest | None = None
    """None: too few messages to tell."""
    change: float = 0.0
    """The ratio of levels, less 1, that the unrest was."""

    def is_same(self, other: Waiting) -> bool:
        return (self.series, self.unrest) == (other.series, other.unrest)


class PartWarmUp(SpecModel):
    """Of one part of a case that warms up by itself, in blocks of as many messages."""

    part: str
    ended: WarmUpEnding
    seconds: float
    messages: int
    blocks_us: dict[str, list[float]] = {}
    """How long each block took, by what was done."""


class WarmUp(SpecModel):
    """Of one case."""

    ended: WarmUpEnding
    seconds: float
    messages: dict[int, int] = {}
    """By producer."""
    parts: tuple[PartWarmUp, ...] = ()
    """Where these warm up one after the other, in their order; who was begun anew is there again."""
    levels: WarmUpLevels | None = None
    waited: tuple[Waiting, ...] = ()
    """For what, one after the other."""

    @property
    def measured_slots_ms(self) -> list[float]:
        """Medians of the slots that were measured, as they were seen while it went on."""
        if self.levels is None or self.levels.latency_ms is None:
            return []
        return self.levels.latency_ms[math.ceil(self.seconds / self.levels.slot_s) :]

    @property
    def rested(self) -> bool:
        """Else what was measured is not at rest."""
        return self.ended is WarmUpEnding.AT_REST


def warm_up_of_parts(parts: Sequence[PartWarmUp]) -> WarmUp:
    """Of a case whose parts warm up one after the other: it is at rest if all of them are."""
    is_at_rest = all(part.ended is WarmUpEnding.AT_REST for part in parts)
    return WarmUp(
        ended=WarmUpEnding.AT_REST if is_at_rest else WarmUpEnding.LIMIT,
        seconds=sum(part.seconds for part in parts),
        parts=tuple(parts),
    )


_WARM_UPS: TypeAdapter[dict[str, WarmUp]] = TypeAdapter(dict[str, WarmUp])


def read_warm_ups(run: RunDir) -> dict[str, WarmUp]:
    """By case; empty when none went on until at rest."""
    try:
        return _WARM_UPS.validate_python(read_by_case(run, run.warm_ups))
    except ValidationError as error:
        raise CorruptRun(
            f"{run.url(run.warm_ups)}: not a record of warm-ups: {error.errors()[0]['msg']}"
        ) from None


def note_warm_up(run: RunDir, case: str, warm_up: WarmUp) -> None:
    note_case(run, run.warm_ups, case, warm_up.model_dump(mode="json"))


def warmed_up(task: AgentTask, messages: Mapping[int, int]) -> AgentTask:
    """A producer's task with the warm-up that it had in the end."""

    def own(part: AgentTask | Stream) -> dict[str, int]:
        return {"warm_up_messages": messages.get(part.number, 0)}

    if task.kind != "producer":
        return task
    if not task.streams:
        return task.model_copy(update=own(task))
    streams = tuple(stream.model_copy(update=own(stream)) for stream in task.streams)
    total = sum(stream.warm_up_messages for stream in streams)
    return task.model_copy(update={"streams": streams, "warm_up_messages": total})
