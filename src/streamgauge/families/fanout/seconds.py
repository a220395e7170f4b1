"""Table `point_seconds`: latency and what every role used, second by second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from streamgauge.families.fanout.result_tables import WATCHED

Row = Mapping[str, Any]
_COLUMNS = {"cpu_cores": "cpu_cores", "memory_bytes": "rss_bytes"}


def point_seconds(latencies: Iterable[Row], resources: Iterable[Row]) -> list[dict[str, Any]]:
    """Of the seconds in which messages were due; `resources`: rows of that table.

    An interval between two samples counts for the second that it ends in; of a process that has two of them
    there, their mean. A role is all of its processes together: unless all were seen, it is not known.
    """
    used: dict[tuple[str, int, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in resources:
        used[row["case"], int(row["at_s"] // 1), row["kind"]][row["source"]].append(row)
        sources[row["case"], row["kind"]].add(row["source"])
    found = []
    for latency in latencies:
        second: dict[str, Any] = dict(latency)
        for role in WATCHED:
            processes = used.get((latency["case"], latency["second"], role), {})
            is_whole = bool(processes) and processes.keys() == sources[latency["case"], role]
            for name, column in _COLUMNS.items():
                second[f"{role}_{name}"] = _sum(processes.values(), column) if is_whole else None
        found.append(second)
    return found


def _sum(processes: Iterable[list[Row]], column: str) -> float:
    return float(sum(sum(row[column] for row in rows) / len(rows) for rows in processes))
