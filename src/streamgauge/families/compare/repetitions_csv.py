"""The repetitions as the benchmark that this follows writes them: a row each, times in µs, `;` between."""

from __future__ import annotations

from collections import defaultdict

from streamgauge.families.compare.document import CompareDocument
from streamgauge.families.compare.result_tables import REPETITIONS
from streamgauge.report.result_tables import ResultTables

_SUFFIXES = {"produce": "Prod", "consume": "Cons", "round_trip": "RoundTrip"}


def repetitions_csv(document: CompareDocument, tables: ResultTables, temperature: str) -> str:
    """`NumPackets;Length;<A>Prod;<A>Cons;<B>Prod;<B>Cons`; a place is empty where the repetition failed."""
    conditions = document.comparison
    operations = list(dict.fromkeys(row.operation for row in document.comparisons))
    named = {"a": conditions.a.name, "b": conditions.b.name}
    columns = [(side, operation) for side in named for operation in operations]
    names = [f"{named[side]}{_SUFFIXES[operation]}" for side, operation in columns]
    times: dict[tuple[int, int, int], dict[tuple[str, str], float | None]] = defaultdict(dict)
    for row in tables.tables[REPETITIONS.name].to_pylist():
        if row["temperature"] == temperature and row["repetition"] >= 0:
            place = (row["messages"], row["length"], row["repetition"])
            times[place][(row["side"], row["operation"])] = row["elapsed_us"]
    lines = [";".join(["NumPackets", "Length", *names])]
    for messages, length, repetition in sorted(times):
        found = [times[(messages, length, repetition)].get((side, operation)) for side, operation in columns]
        lines.append(";".join([str(messages), str(length), *map(_whole, found)]))
    return "\n".join(lines) + "\n"


def _whole(time_us: float | None) -> str:
    return "" if time_us is None else str(round(time_us))
