"""limit.csv: the curve of a search, a row for every trial."""

from __future__ import annotations

import csv
import io

from streamgauge.report.old_shape import Document

_STATISTICS = ("mean", "p50", "p90", "p99", "p99_9", "max")
COLUMNS = ("rate_per_s", "case", "holds", *_STATISTICS, "delivered_per_s", "bottleneck", "missed")


def limit_csv(document: Document) -> str:
    by_case = {case["case"]: case for case in document["cases"]}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for step in document["limit"]["steps"]:
        for trial in step["trials"]:
            case = by_case[trial["case"]]
            latency = case["latency_ms"]["intended_to_received"]
            writer.writerow(
                (
                    step["rate_per_s"],
                    trial["case"],
                    str(trial["holds"]).lower(),
                    *(latency[name] for name in _STATISTICS),
                    case["throughput"]["received_messages_per_s"],
                    case["bottleneck"]["limit"],
                    "; ".join(trial["missed"]),
                )
            )
    return text.getvalue()
