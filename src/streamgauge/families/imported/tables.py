"""What is kept of other tools' figures."""

from __future__ import annotations

from streamgauge.tables.column import Column, Table

_CASE = Column("case", "string", "id of the case")

FIGURES = Table(
    "tool_figures",
    "what a tool said of a case as a whole",
    (
        _CASE,
        Column("rate_per_s", "float64", "messages or requests a second", nullable=True),
        Column("bytes_per_s", "float64", "bytes a second", nullable=True),
        Column("message_count", "int64", "messages or requests", nullable=True),
        Column("failed_count", "int64", "of these, how many failed", nullable=True),
    ),
)
LATENCIES = Table(
    "tool_latency",
    "a latency that a tool measured, in ms",
    (
        _CASE,
        Column("place", "int32", "0: the one that speaks for the case"),
        Column("leg", "string", "from when to when, in the tool's own terms"),
        Column("count", "int64", "messages behind it", nullable=True),
        Column("mean", "float64", "ms", nullable=True),
        Column("min", "float64", "ms", nullable=True),
        Column("max", "float64", "ms", nullable=True),
    ),
)
PERCENTILES = Table(
    "tool_percentiles",
    "a percentile of a latency, as the tool gave it",
    (
        _CASE,
        Column("place", "int32", "of the latency"),
        Column("percentile", "string", "p50, p99.9 …"),
        Column("value_ms", "float64", "ms"),
    ),
)
CURVES = Table(
    "tool_curves",
    "a point of the distribution of a latency",
    (
        _CASE,
        Column("place", "int32", "of the latency"),
        Column("share", "float64", "of messages that took no longer"),
        Column("value_ms", "float64", "ms"),
    ),
)
INTERVALS = Table(
    "tool_intervals",
    "what a tool said while it went on",
    (
        _CASE,
        Column("second", "float64", "since the first of them"),
        Column("rate_per_s", "float64", "messages or requests a second", nullable=True),
        Column("mean_ms", "float64", "ms", nullable=True),
        Column("p99_ms", "float64", "ms", nullable=True),
        Column("max_ms", "float64", "ms", nullable=True),
    ),
)
NOTES = Table(
    "tool_notes",
    "what to know of a tool's figures",
    (_CASE, Column("place", "int32", "in their order"), Column("text", "string", "a sentence")),
)
TABLES = (FIGURES, LATENCIES, PERCENTILES, CURVES, INTERVALS, NOTES)
