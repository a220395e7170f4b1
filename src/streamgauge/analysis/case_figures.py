"""What verdicts look at: the figures of each case of the plan, whether it was run or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.analysis.joining.cells import OWN_SECONDS
from streamgauge.analysis.scopes import measured, merged_by
from streamgauge.analysis.squeezed import sum_of_known
from streamgauge.analysis.validity import HostTrouble
from streamgauge.core.clock import NS_PER_S
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.tables.faults import NO_ACKS, hears_of_messages
from streamgauge.tables.results import ACCOUNTING, CASE, MEASURE, SECOND

Row = dict[str, Any]

_DRIFT_DIGITS = 9
"""What lies beyond depends on the order in which doubles were added."""
DRIFT_SECONDS = 3
"""Fewer points say nothing of a slope."""

_COUNTS = [column.name for column in ACCOUNTING.columns if column.kind == "int64"]
_LEGS = {"received": "intended_to_received", "acked": "sent_to_acked"}
_TROUBLES = ("silent_ms", "jump_ms", "wall_jump_ms")
_SPANS = {
    "intended_first_ns": "min",
    "intended_last_ns": "max",
    "sent_first_ns": "min",
    "sent_last_ns": "max",
    "created_count": "sum",
}


class Tables(NamedTuple):
    """Of all cases."""

    cells: pa.Table
    accounting: pa.Table
    latency: pa.Table
    throughput: pa.Table
    cpu: pa.Table
    resources: pa.Table
    clocks: pa.Table


class Beside(NamedTuple):
    """What agents found themselves, by case; where there is nothing it is not known."""

    compression_ratios: Mapping[str, float]
    noise_floors_ms: Mapping[str, float]


def case_figures(plan: Plan, status: RunStatus, tables: Tables, beside: Beside) -> list[Row]:
    """One row: a case of the plan; None where there is no figure."""
    whole, seconds = (_of_scope(tables.latency, scope) for scope in (CASE, SECOND))
    rates, by_second = (_of_scope(tables.throughput, scope) for scope in (CASE, SECOND))
    counts = _of_scope(tables.accounting, CASE)
    spans = _by_case(merged_by(measured(tables.cells), ["case"], _SPANS).to_pylist())
    cpu, usage, clocks = (
        _by_case(table.to_pylist()) for table in (tables.cpu, tables.resources, tables.clocks)
    )
    return [
        _planned(case, status.cases.get(case.id))
        | {"sample_ratio": beside.compression_ratios.get(case.id)}
        | {"noise_floor_ms": beside.noise_floors_ms.get(case.id)}
        | _counts(counts[case.id])
        | _ranges(spans[case.id])
        | _latencies(whole[case.id])
        | _rates(rates[case.id])
        | _cores(cpu[case.id])
        | _machines(usage[case.id], by_second[case.id])
        | {"clock_error_ms": clock_error_ms(clocks[case.id])}
        | {"hosts": host_troubles(clocks[case.id])}
        | _medians(seconds[case.id])
        | _second_rates(by_second[case.id])
        for case in plan.cases
    ]


def _planned(case: Case, ended: CaseStatus | None) -> Row:
    """The load wanted, and how it ended."""
    counts = [agent.messages for agent in case.agents if agent.kind == "producer"]
    known = [count for count in counts if count is not None]
    rate = case.load.rate
    if ended is None:
        ended = CaseStatus("partial", "the case was not begun")
    elif ended.status == "running":
        ended = CaseStatus("partial", ended.reason or "the case did not end")
    return {
        "case": case.id,
        "status": ended.status,
        "status_reason": ended.reason,
        "producers": case.load.producer_count,
        "consumers": case.load.consumer_count,
        "planned_messages": sum(known) if len(known) == len(counts) else None,
        "has_acks": case.load.acks != NO_ACKS,
        "has_completions": hears_of_messages(
            completions=case.load.completions,
            acks=case.load.acks,
            has_consumers=case.load.consumer_count > 0,
        ),
        "notes": case.notes,
        "measures_itself": case.measures_itself,
        "compression": case.load.compression,
        "asked_ratio": case.load.message.compressibility,
        "is_paced": rate != "unlimited",
        "constant_rate_per_s": rate if isinstance(rate, float) else None,
        "rested": None if case.warm_up is None else case.warm_up.rested,
        "slots_ms": [] if case.warm_up is None else case.warm_up.measured_slots_ms,
        "fault_count": sum(record.began_ns is not None for record in case.faults),
        "failed_fault_count": sum(not record.went_as_planned for record in case.faults),
    }


def _counts(rows: Iterable[Row]) -> Row:
    """Of both phases together: warm-up must not lose messages either."""
    found = dict.fromkeys(["measured", *_COUNTS], 0)
    for row in rows:
        for name in _COUNTS:
            found[name] += row[name]
        if row["phase"] == MEASURE:
            found["measured"] += row["sent"]
    return found


def _ranges(rows: Sequence[Row]) -> Row:
    row: Mapping[str, Any] = rows[0] if rows else {}
    return {
        "intended_range_s": _span_s(row, "intended"),
        "sent_range_s": _span_s(row, "sent"),
        "created": row.get("created_count"),
    }


def _span_s(row: Mapping[str, Any], time: str) -> float | None:
    return (row[f"{time}_last_ns"] - row[f"{time}_first_ns"]) / NS_PER_S if row else None


def _latencies(rows: Iterable[Row]) -> Row:
    legs = {row["leg"]: row for row in rows}
    # Output times are whole ms, cut off: their legs are below zero with the best of clocks.
    exact = [row["negative_count"] for leg, row in legs.items() if "broker" not in leg]
    found = {
        "lag_ms": legs.get("intended_to_sent", {}).get("p99"),
        "ack_ms": legs.get("sent_to_acked", {}).get("p50"),
        "negative": sum(exact) if exact else None,
    }
    for name, leg in _LEGS.items():
        row = legs.get(leg, {})
        found |= {f"{name}_count": row.get("count")}
        found |= {f"{name}_p50_ms": row.get("p50"), f"{name}_p99_ms": row.get("p99")}
    return found


def _rates(rows: Sequence[Row]) -> Row:
    row = rows[0] if rows else {}
    return {name: row.get(name) for name in ("sent_messages_per_s", "received_messages_per_s")}


def _cores(rows: Iterable[Row]) -> Row:
    busiest = {row["kind"]: row["busiest_cores"] for row in rows}
    return {f"{kind}_cores": busiest.get(kind) for kind in ("producer", "consumer", "broker")}


def _machines(usage: Iterable[Row], by_second: Iterable[Row]) -> Row:
    """While messages were sent: the busiest machine, cores of the brokers' hosts, what machines swapped."""
    sending = [row["second"] for row in by_second if row["sent_messages_per_s"] > 0]
    first_s, end_s = min(sending, default=0), max(sending, default=-1) + 1
    within = [row for row in usage if first_s <= row["at_s"] <= end_s] if sending else []
    shares: dict[str, list[float]] = defaultdict(list)
    for row in within:
        if row["kind"] == "machine":
            shares[row["host"]].append(row["cpu_cores"] / row["cores"])
    cores = [row["cores"] for row in within if row["kind"] == "broker"]
    return {
        "machine_share": max((sum(own) / len(own) for own in shares.values()), default=None),
        "broker_host_cores": max(cores, default=None),
        "swapped_bytes": sum_of_known(row["swapped_bytes_per_s"] for row in within),
        "throttled_count": sum_of_known(row["throttled_per_s"] for row in within),
    }


def clock_error_ms(rows: Iterable[Row], receiver: str = "consumer") -> float | None:
    """How far a producer's and a receiver's clock can be apart; `rows`: of table `clocks`."""
    errors: dict[str, float] = {}
    for row in rows:
        kind = row["agent"].partition("-")[0]
        errors[kind] = max(row["error_ms"], errors.get(kind, row["error_ms"]))
    is_known = {"producer", receiver} <= errors.keys()
    return errors["producer"] + errors[receiver] if is_known else None


def host_troubles(rows: Iterable[Row]) -> list[HostTrouble]:
    """Of each host the worst that any of its agents saw; `rows`: of table `clocks`."""
    found: dict[str, HostTrouble] = {}
    for row in rows:
        name, before = row["hostname"], found.get(row["hostname"], HostTrouble(row["hostname"]))
        worst = {
            of: max((row[of], getattr(before, of)), key=lambda value: abs(value or 0.0)) for of in _TROUBLES
        }
        found[name] = HostTrouble(name, **worst)
    return [found[name] for name in sorted(found)]


def _medians(rows: Iterable[Row]) -> Row:
    """Of seconds in their order, and the slope of the latency's."""
    found: Row = {}
    by_leg: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["second"]):
        by_leg[row["leg"]].append(row)
    for name, leg in _LEGS.items():
        found[f"{name}_medians_ms"] = [row["p50"] for row in whole_seconds(by_leg[leg])]
    points = [(row["second"], row["p50"]) for row in by_leg[_LEGS["received"]]]
    return found | {"drift_ms_per_s": _slope(points)}


def _second_rates(rows: Iterable[Row]) -> Row:
    """Of seconds in their order, from the first to the last in which there was any; nothing is a rate too."""
    found: Row = {}
    known = {row["second"]: row for row in rows}
    for event in OWN_SECONDS:
        name = f"{event}_messages_per_s"
        busy = [second for second, row in known.items() if row[name]]
        course = range(min(busy), max(busy) + 1) if busy else ()
        counts = [{"count": known[second][name] if second in known else 0.0} for second in course]
        found[f"{event}_rates_per_s"] = [row["count"] for row in whole_seconds(counts)]
    return found


def whole_seconds(seconds: list[Row]) -> list[Row]:
    """In their order; without a first or last one of which the case has less than half: the median of few is
    noise."""
    if len(seconds) < DRIFT_SECONDS:
        return seconds
    counts = [row["count"] or 0 for row in seconds]
    first = int(2 * counts[0] < counts[1])
    return seconds[first : len(seconds) - int(2 * counts[-1] < counts[-2])]


def _slope(points: Sequence[tuple[int, float]]) -> float | None:
    """By least squares."""
    if len(points) < DRIFT_SECONDS:
        return None
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope: float = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return round(slope, _DRIFT_DIGITS)


def _of_scope(table: pa.Table, scope: str) -> Mapping[str, list[Row]]:
    return _by_case(table.filter(pc.field("scope") == scope).to_pylist())


def _by_case(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["case"]].append(row)
    return found
