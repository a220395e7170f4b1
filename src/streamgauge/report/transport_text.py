"""Transport-bench's table, for console, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamgauge.report.old_shape import Document
from streamgauge.report.quantities import NOTHING, count_text, digits_text

SHOWN_PERCENTILES = {"p25": "25th", "p50": "50th", "p90": "90th", "p99": "99th", "p99_9": "99.9th"}
LEG = "intended_to_received"

UNITS = (
    "Latency in ms, from when a message was due until it was parsed: with serialisation and deserialisation."
)
HARNESS_MEANS = (
    "Harness: the same messages at the same rate through memory alone, in the same run: what all but the "
    "transport costs."
)
_DRIFT_SHARE, _DRIFT_MS_PER_S = 0.1, 0.1
"""Of the median, and at least so much, a second."""
HEADINGS = ["RPS/Latency", *SHOWN_PERCENTILES.values(), "max", "lost", "harness 50th", "harness 99th", "rate"]


def is_paced(case: Document) -> bool:
    """At one constant rate."""
    return isinstance(case["parameters"]["rate"], (int, float))


def rate_name(per_s: float) -> str:
    """As transport-bench writes it: 1K, 25K."""
    return f"{per_s / 1000:g}K" if per_s >= 1000 else f"{per_s:g}"


def unlike(part: Document) -> str | None:
    """What must be said when transports with different promises stand in one report."""
    keep = [about["transport"] for about in part["transports"] if about["promises"].get("durable")]
    lose = [about["transport"] for about in part["transports"] if about["promises"].get("durable") is False]
    if not keep or not lose:
        return None
    kept, gone = ", ".join(keep), ", ".join(lose)
    return (
        f"Not alike: {kept} (durable) and {gone} (nothing is kept). "
        "Their latencies are the price of different promises."
    )


def promises_text(promises: Document) -> str:
    if not promises:
        return "its promises are not known"
    return " · ".join(
        [
            "durable log" if promises["durable"] else "in memory only",
            "ordered" if promises["ordered"] else "no order",
            "acknowledged by its server" if promises["acked"] else "no acknowledgement (fire and forget)",
        ]
    )


def cells(row: Document) -> list[str]:
    return [
        rate_name(row["rate_per_s"]),
        *(latency_text(row[f"{name}_ms"]) for name in SHOWN_PERCENTILES),
        latency_text(row["max_ms"]),
        count_text(row["lost"]) if row["messages"] else NOTHING,
        latency_text(row["harness_p50_ms"]),
        latency_text(row["harness_p99_ms"]),
        held_text(row),
    ]


def latency_text(value_ms: float | None) -> str:
    """Microseconds show: below a tenth of a millisecond there are four decimals."""
    if value_ms is None:
        return NOTHING
    return f"{value_ms:.4f}" if abs(value_ms) < 0.1 else digits_text(value_ms)


def held_text(row: Document) -> str:
    """Whether the messages were sent when they were due, and who could not keep up."""
    if row["held"] is None:
        return row["status"] if row["status"] != "ok" else NOTHING
    if row["held"]:
        return "held"
    share = f"{100 * row['sent_per_s'] / row['rate_per_s']:.0f}%"
    return f"{share}: not even the harness" if row["harness_held"] is False else f"{share} of it"


def by_transport(part: Document) -> Iterator[tuple[Document, list[Document]]]:
    for about in part["transports"]:
        yield about, [row for row in part["rows"] if row["transport"] == about["transport"]]


def title(about: Document, part: Document) -> str:
    engine = f", engine {part['engine']}" if part["engine"] else ""
    return f"Results ({about['transport']}: driver {about['driver']}{engine})"


def remarks(part: Document) -> Iterator[str]:
    """What must be known to read the tables, and what went wrong."""
    if (said := unlike(part)) is not None:
        yield said
    for about in part["transports"]:
        for note in about["notes"]:
            yield f"{about['transport']}: {note}"
    acked = {about["transport"]: about["promises"].get("acked", True) for about in part["transports"]}
    for row in part["rows"]:
        reasons = [_plain(reason, acked[row["transport"]]) for reason in row["reasons"]]
        for reason in [_lost_text(row), *reasons, _drift_text(row)]:
            if reason:
                yield f"{row['transport']} at {rate_name(row['rate_per_s'])}: {reason}"


def _lost_text(row: Document) -> str:
    """Of the measured messages, as the table has it; what is said of the case counts its warm-up, too."""
    if not row["lost"]:
        return ""
    share = 100 * row["lost"] / row["messages"]
    return f"{row['lost']:,} of {row['messages']:,} measured messages never came ({digits_text(share)}%)"


def _plain(reason: str, is_acked: bool) -> str:
    """Where nobody acknowledges, nothing was acknowledged; and of a case all messages are counted."""
    if "acknowledged messages " not in reason:
        return reason
    return f"{reason if is_acked else reason.replace('acknowledged ', '')}; warm-up included"


def _drift_text(row: Document) -> str:
    """A median that has not come to rest is that of a server which still warms up, or of a backlog."""
    drift, median = row["drift_ms_per_s"], row["p50_ms"]
    if drift is None or median is None or abs(drift) < max(_DRIFT_SHARE * median, _DRIFT_MS_PER_S):
        return ""
    way = "fell" if drift < 0 else "rose"
    return f"its median {way} by {digits_text(abs(drift))} ms a second: not at rest; lengthen --warm-up"


def print_transports(part: Document, console: Console) -> None:
    console.print(Text(UNITS, "dim"))
    console.print(Text(HARNESS_MEANS, "dim"))
    for about, rows in by_transport(part):
        console.print()
        console.print(Text(title(about, part), "bold"))
        console.print(Text(f"{about['system'] or NOTHING} · {promises_text(about['promises'])}", "dim"))
        console.print(_table(rows))
    for remark in remarks(part):
        console.print(Text(f"• {remark}", "yellow"), soft_wrap=True)


def _table(rows: list[Document]) -> Table:
    """As the others, within 80 columns: both figures of the harness share one."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for heading in ["RPS", *SHOWN_PERCENTILES.values(), "max", "lost", "harness\n50th/99th", "rate"]:
        table.add_column(heading, justify="right", no_wrap=heading != "rate")
    for row in rows:
        *figures, half, most, held = cells(row)
        style = None if row["status"] == "ok" else "red"
        table.add_row(*figures, f"{half}/{most}", held, style=style)
    return table


def transports_markdown(part: Document) -> str:
    lines = ["# Transports", "", UNITS, "", HARNESS_MEANS]
    for about, rows in by_transport(part):
        lines += ["", f"## {title(about, part)}", "", f"{about['system'] or NOTHING}"]
        lines[-1] += f" · {promises_text(about['promises'])}"
        lines += ["", _line(HEADINGS), _line(["---"] * len(HEADINGS)), *(_line(cells(row)) for row in rows)]
    said = list(remarks(part))
    if said:
        lines += ["", "## To know", "", *(f"- {remark}" for remark in said)]
    return "\n".join(lines) + "\n"


def transports_csv(part: Document) -> str:
    """Every figure of every row, unrounded."""
    out = io.StringIO()
    promises = {about["transport"]: about["promises"] for about in part["transports"]}
    writer = csv.writer(out, lineterminator="\n")
    names = [name for name in (part["rows"][0] if part["rows"] else {}) if name != "reasons"]
    writer.writerow([*names, "engine", "durable", "ordered", "acked"])
    for row in part["rows"]:
        own = promises[row["transport"]]
        promised: list[Any] = [own.get(name) for name in ("durable", "ordered", "acked")]
        writer.writerow([*(row[name] for name in names), part["engine"], *promised])
    return out.getvalue()


def _line(texts: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', '/') for text in texts)} |"
