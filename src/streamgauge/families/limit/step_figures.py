"""Figures of one case while its run goes on: what a search has to know before it chooses the next rate.

Not by Spark: its slots belong to the agents, and planning the whole analysis takes longer than a step. The
kernel is the same, and so are the tables that the figures are taken from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.accounting import accounting
from streamgauge.analysis.at_rest import unrest
from streamgauge.analysis.case_figures import whole_seconds
from streamgauge.analysis.clocks import agent_clocks
from streamgauge.analysis.feeding.event_files import case_row_groups
from streamgauge.analysis.feeding.fed import NO_CLOCKS
from streamgauge.analysis.feeding.here import join_slices
from streamgauge.analysis.latency import histogram, latency
from streamgauge.analysis.storage import read_few_events
from streamgauge.analysis.throughput import throughput
from streamgauge.core.percentiles import percentile_ms
from streamgauge.core.run_dir import RunDir
from streamgauge.families.limit.rate_search import DELIVERED, FELL_FROM, FELL_TO, ROSE_FROM, ROSE_TO
from streamgauge.plan.cases import Case
from streamgauge.spec.metrics import Metric
from streamgauge.tables.events import MARKS, RECEIVES, SENDS
from streamgauge.tables.faults import not_arrived_count
from streamgauge.tables.results import ACCOUNTING, CASE, MEASURE, SECOND

_LEG = "intended_to_received"
_STATISTICS = ("mean", "p50", "p75", "p90", "p95", "p98", "p99", "p99_9", "max")
_COUNTS = ("sent", "failed", "duplicate", "out_of_order", "corrupt", "unexpected")


def step_figures(run: RunDir, case: Case, metrics: Iterable[Metric] = ()) -> dict[str, float | None]:
    """Latencies in ms from the intended time, counts and the rate delivered; of measured messages only.
    `metrics`: percentiles among these are there too, whichever they are."""
    groups = [group for table in (SENDS, RECEIVES) for group in case_row_groups(run, case.id, table)]
    clocks = agent_clocks(read_few_events(run, MARKS, case.id).to_pylist())
    found = join_slices(run, case, groups, clocks.get(case.id, NO_CLOCKS))
    cells = found.joined.cells
    counts = _of_case(accounting(cells, found.strays), phase=MEASURE)
    counts = counts or dict.fromkeys(ACCOUNTING.column_names, 0)
    lost = counts["lost_write"] + counts["unseen"]
    lost += not_arrived_count(
        counts, has_consumers=case.load.consumer_count > 0, has_completions=case.load.completions
    )
    rates = _of_case(throughput(cells))
    return {
        "lost": float(lost),
        **{name: float(counts[name]) for name in _COUNTS},
        DELIVERED: rates.get("received_messages_per_s"),
        **_latencies(found.joined.buckets, metrics),
        **_change(found.joined.buckets),
    }


def _latencies(buckets: pa.Table, metrics: Iterable[Metric]) -> dict[str, float | None]:
    row = _of_case(latency(buckets), leg=_LEG)
    found = {name.replace("_", "."): row.get(name) for name in _STATISTICS}
    shares = {metric.name: metric.share for metric in metrics if metric.share is not None}
    for name, share in shares.items():
        if name not in found:
            # The middle of the outermost bucket may lie outside of what was measured.
            found[name] = min(_percentile(buckets, share), row["max"]) if row else None
    return found


def _change(buckets: pa.Table) -> dict[str, float | None]:
    """From where to where the median of a second went, if it did so while the step was measured."""
    seconds = latency(buckets).filter((pc.field("scope") == SECOND) & (pc.field("leg") == _LEG))
    rows = whole_seconds(seconds.sort_by("second").to_pylist())
    change = unrest([row["p50"] for row in rows])
    if change is None:
        return {}
    names = (FELL_FROM, FELL_TO) if change.after_ms < change.before_ms else (ROSE_FROM, ROSE_TO)
    return dict(zip(names, (change.before_ms, change.after_ms), strict=True))


def _percentile(buckets: pa.Table, share: float) -> float:
    of_case = histogram(buckets).filter(pc.field("leg") == _LEG)
    return percentile_ms(
        zip(of_case["value_ms"].to_pylist(), of_case["count"].to_pylist(), strict=True), share
    )


def _of_case(rows: pa.Table, **wanted: str) -> dict[str, Any]:
    """The row of the case as a whole; empty when there is none."""
    is_it = pc.field("scope") == CASE
    for name, value in wanted.items():
        is_it = is_it & (pc.field(name) == value)
    found: list[dict[str, Any]] = rows.filter(is_it).to_pylist()
    return found[0] if found else {}
