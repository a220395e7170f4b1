"""The workload of `limit`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from streamgauge.families.limit.section import LEAST_MESSAGES, Search
from streamgauge.spec.load import Load
from streamgauge.spec.workload import Workload


class LimitWorkload(Workload):
    """One target, a load without a rate, and what to search for; the search chooses the cases."""

    kind: Literal["limit"] = "limit"
    load: Load
    search: Search

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
