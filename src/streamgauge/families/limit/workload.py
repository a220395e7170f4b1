"""The workload of `limit`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from streamgauge.families.limit.section import LEAST_MESSAGES, Search
from streamgauge.spec.load import Load
from streamgauge.spec.metrics import OF_MESSAGES, VALID
from streamgauge.spec.model import fault_at
from streamgauge.spec.objective import Objective, read_objectives
from streamgauge.spec.workload import Workload


class LimitWorkload(Workload):
    """One target, a load without a rate, and what to search for; the search chooses the cases."""

    kind: Literal["limit"] = "limit"
    load: Load
    search: Search

    @model_validator(mode="before")
    @classmethod
    def _objectives_to_search_by(cls, content: Any) -> Any:
        """`objectives`, or `search.slo` as in 0.1: either says both."""
        if not isinstance(content, dict) or not isinstance(content.get("search", {}), dict):
            return content
        search = content.get("search", {})
        if not content.get("objectives"):
            return {**content, "objectives": search["slo"]} if search.get("slo") else content
        try:
            asked = read_objectives(content["objectives"], OF_MESSAGES)
            said = read_objectives(search["slo"], OF_MESSAGES) if "slo" in search else None
        except ValueError:
            return content  # the fields themselves say what is wrong
        steps = _of_a_step(asked)
        if not steps:
            words = "a search needs an objective on a figure of a step, as p99<20ms"
            raise fault_at("objectives", words, content["objectives"])
        if said is not None and said != steps:
            raise fault_at(
                "objectives", "`search.slo` says others; give one of the two", content["objectives"]
            )
        return {**content, "search": {**search, "slo": steps}}

    @model_serializer(mode="wrap")
    def _with_kind(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Objectives are written once."""
        written = {"kind": self.kind, **serialize(self)}
        search = {name: value for name, value in written["search"].items() if name != "slo"}
        return {**written, "search": search}

    @model_validator(mode="after")
    def _one_load_to_search(self) -> LimitWorkload:
        load = self.load
        if len(self.targets) != 1:
            raise ValueError(f"targets: a search is of one target, not {len(self.targets)}")
        if load.duration is None or load.rate != "unlimited" or load.total_warm_up_messages:
            raise ValueError("search: `load` needs the `duration` of a step, and no rate and no warm-up")
        if self.search.from_ * load.duration < LEAST_MESSAGES:
            raise ValueError(
                f"search.from: {self.search.from_:g}/s for {load.duration:g} s are fewer than "
                f"{LEAST_MESSAGES} messages, too few to judge a step by; raise one of them"
            )
        if not load.consumers:
            raise ValueError("search: latency is to the receipt of a message; `load.consumers` must not be 0")
        return self


def _of_a_step(objectives: tuple[Objective, ...]) -> tuple[Objective, ...]:
    """Those that can be judged before the run is analysed."""
    return tuple(objective for objective in objectives if objective.metric != VALID)
