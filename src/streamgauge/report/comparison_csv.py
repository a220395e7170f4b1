"""The repetitions as the benchmark that this follows writes them: a row each, times in µs, `;` between."""

from __future__ import annotations

from collections import defaultdict

from streamgauge.report.old_shape import Document
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.comparison_results import REPETITIONS

_SUFFIXES = {"produce": "Prod", "consume": "Cons", "round_trip": "RoundTrip"}


def repetitions_csv(document: Document, tables: ResultTables, temperature: str) -> str:
    """`NumPackets;Length;<A>Prod;<A>Cons;<B>Prod;<B>Cons`; a place is empty where the repetition failed."""
    conditions = document["comparison"]
    operations = list(dict.fromkeys(row["operation"] for row in document["comparisons"]))
    columns = [(side, operation) for side in ("a", "b") for operation in operations]
    names = [f"{conditions[side]['name']}{_SUFFIXES[operation]}" for side, operation in columns]
    times: dict[tuple[int, int, int], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in tables.tables[REPETITIONS.name].to_pylist():
        if row["temperature"] == temperature and row["repetition"] >= 0:
            place = (row["messages"], row["length"], row["repetition"])
            times[place][(row["side"], row["operation"])] = row["elapsed_us"]
    lines = [";".join(["NumPackets", "Length", *names])]
    for messages, length, repetition in sorted(times):
        found = [times[(messages, length, repetition)].get(column) for column in columns]
        lines.append(";".join([str(messages), str(length), *map(_whole, found)]))
    return "\n".join(lines) + "\n"


def _whole(time_us: float | None) -> str:
    return "" if time_us is None else str(round(time_us))
