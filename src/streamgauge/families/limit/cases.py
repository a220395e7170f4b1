"""The cases of a search: the same load at one rate after another."""

from __future__ import annotations

from streamgauge.families.limit.section import Search
from streamgauge.plan.cases import Case, load_case, load_with
from streamgauge.spec.load import Load
from streamgauge.spec.target import Target


def search_case(search: Search, target: Target, load: Load, run_id: str, number: int, rate: float) -> Case:
    """Case `number` of the search, from 1; `load`: that of the workload, or of any other case of it."""
    warm_up_s = search.first_warm_up if number == 1 else search.warm_up
    warm_up_messages = round(rate * warm_up_s)
    if warm_up_messages < load.producer_count:
        warm_up_messages = 0
    per_stream = load.streams == "per_partition"
    fields = {
        "rate": rate,
        "warm_up_messages": 0 if per_stream else warm_up_messages,
        "stream_warm_up_messages": warm_up_messages // load.partition_count if per_stream else 0,
    }
    changed = load_with(load, fields, "search")
    return load_case("limit", target, changed, f"{number:03d}", run_id, parameters={"rate": rate})
