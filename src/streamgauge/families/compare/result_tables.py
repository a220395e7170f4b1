"""Result tables of a run that compares two libraries; it has these instead of those in `results`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamgauge.families.compare.event_tables import CLIENT_SETTINGS
from streamgauge.tables.column import Column, Table
from streamgauge.tables.results import CAUSES

_CASE = Column("case", "string", "id of the case")
_CELL = (
    _CASE,
    Column("operation", "string", "produce, consume or round_trip"),
    Column("temperature", "string", "cold or warm"),
    Column("length", "int32", "bytes of a message's value"),
    Column("messages", "int32", "messages of a test"),
)

REPETITIONS = Table(
    "repetitions",
    "one timed operation of one library in a comparison",
    (
        *_CELL,
        Column("repetition", "int32", "from 0; -1 is the warm-up round, which is not counted"),
        Column("side", "string", "a, b or control"),
        Column("position", "int32", "place of the turn among all turns of the cell"),
        Column("elapsed_us", "float64", "µs; null when it failed", nullable=True),
        Column("cpu_us", "float64", "CPU µs of the library's process meanwhile", nullable=True),
        Column("missing", "int64", "messages that were not acked or did not come"),
        Column("error", "string", "why it failed", nullable=True),
    ),
)


def _side_columns(side: str, name: str) -> tuple[Column, ...]:
    return (
        Column(f"{side}_count", "int32", f"repetitions of {name} that did not fail"),
        *(
            Column(f"{side}_{statistic}", "float64", f"{name}: {unit}", nullable=True)
            for statistic, unit in (
                ("max_us", "µs"),
                ("min_us", "µs"),
                ("mean_us", "µs"),
                ("sd_us", "µs"),
                ("cv_percent", "SD over mean"),
                ("median_us", "µs"),
                ("cpu_us_per_message", "CPU µs a message, median"),
                ("crossings_per_message", "calls between Python and Java a message"),
                ("jni_calls_per_message", "JNI functions called a message"),
            )
        ),
        Column(f"{side}_is_two_humped", "bool", f"the times of {name} have two humps"),
    )


COMPARISONS = Table(
    "comparisons",
    "A against B in one cell, operation and temperature; ratios below 100% mean that A is better",
    (
        *_CELL,
        Column("status", "string", "ok; failed: a repetition did, or a message is missing; partial"),
        Column("integrity", "string", "is every message accounted for: ok, or the worst that became of one"),
        Column("validity", "string", "may its verdict be quoted: valid, invalid or not_measured"),
        *_side_columns("a", "A"),
        *_side_columns("b", "B"),
        *(
            Column(f"ratio_{name}_percent", "float64", f"{name} of A over that of B", nullable=True)
            for name in ("max", "min", "mean", "sd", "cv")
        ),
        Column("pairs", "int32", "repetitions in which neither failed"),
        Column("ratio_median_percent", "float64", "median of the pairs' ratios", nullable=True),
        Column("interval_low_percent", "float64", "of the 95% interval of that median", nullable=True),
        Column("interval_high_percent", "float64", "of the same", nullable=True),
        Column("p", "float64", "that the ratio is 1, corrected by Holm over the whole run", nullable=True),
        Column("p_uncorrected", "float64", "the same for this row alone", nullable=True),
        Column("detectable_percent", "float64", "least difference found in 4 of 5 such runs", nullable=True),
        Column("verdict", "string", "A faster, B faster, equivalent or inconclusive"),
        Column(
            "rounds", "int32", "repetitions that A, B and control have all made", nullable=True, is_new=True
        ),
        Column(
            "decision",
            "string",
            "of a run until decided: decided, open_at_time_limit, open_after_failures or open_when_stopped",
            nullable=True,
            is_new=True,
        ),
        Column("control_ratio_median_percent", "float64", "A over A's target once more", nullable=True),
        Column("control_interval_low_percent", "float64", "of its 95% interval", nullable=True),
        Column("control_interval_high_percent", "float64", "of the same", nullable=True),
        Column("control_p", "float64", "corrected over all controls of the run", nullable=True),
        Column("control_verdict", "string", "as of A and B; neither may be faster than itself"),
        Column("is_tainted", "bool", "the control found a difference where there is none"),
        *(
            Column(name, "int64", f"{meaning}; A, B and control, all repetitions")
            for name, meaning in (
                ("expected", "messages to be acked or received"),
                ("seen", "of these, how many were"),
                ("missing", "of these, how many were not"),
                ("duplicate", "beyond the first"),
            )
        ),
        Column("corrupt", "int64", "records with another value; null when not checked", nullable=True),
        Column("failed", "int32", "trials that failed; A, B and control"),
    ),
)

APPLIED_SETTINGS = Table("applied_settings", CLIENT_SETTINGS.row, (_CASE, *CLIENT_SETTINGS.columns))

COMPARISON_TABLES = (REPETITIONS, COMPARISONS, APPLIED_SETTINGS, CAUSES)


def subject_of(row: Mapping[str, Any]) -> str:
    """What the causes of a comparison are kept under, in table `causes`."""
    return f"{row['operation']} {row['temperature']} {row['length']} {row['messages']}"
