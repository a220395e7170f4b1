"""The section of one case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import COUNTS, RANGE_NAMES, STATISTICS, Document
from streamgauge.report.page_headline import about, status_pill
from streamgauge.report.quantities import (
    NOTHING,
    bytes_per_s_text,
    count_text,
    digits_text,
    ms_text,
    rate_per_s_text,
    s_text,
    us_text,
)
from streamgauge.report.words import (
    COUNT_MEANINGS,
    COUNT_NAMES,
    FAULTS,
    LEG_NAMES,
    STATISTIC_NAMES,
    case_title,
    faults_checked,
    limit_text,
    warm_up_sentence,
    without_outcome,
)

_NO_OUTCOME = "messages have no outcome: neither acknowledged, nor reported as failed, nor received."
_BRIEF_COUNTS = ("sent", "received", "lost_write", "unseen", "duplicate", "out_of_order")


def case_section(case: Document, plots: dict[str, Markup], is_open: bool, alone: bool) -> Markup:
    """`plots` are places of figures, by group: latency, load, resources."""
    heading = tag("h2", f"Case {case['case']}", " ", tag("span", case_title(case), class_="case-title"))
    summary = tag("summary", heading, status_pill(case["status"]))
    body: list[Markup | None]
    if case["accounting"]["sent"] == 0:
        body = [tag("p", "No message was measured.", class_="note")]
    else:
        body = [
            _accounting(case),
            tag("h3", "Latency"),
            plots.get("latency"),
            _latency_table(case),
            tag("h3", "Load"),
            _load(case),
            plots.get("load"),
            tag("h3", "Resources"),
            _resources(case),
            plots.get("resources"),
        ]
    return tag(
        "details",
        summary,
        # Of a single case the top of the page has said it.
        None if alone else tag("p", about(case), class_="about"),
        _reasons(case),
        *body,
        tag("h3", "Details"),
        *_details(case),
        class_="case",
        id=f"case-{case['case']}",
        open=is_open or None,
    )


def _reasons(case: Document) -> Markup | None:
    if not case["reasons"]:
        return None
    tone = {"failed": "bad", "partial": "warn"}.get(case["status"], "quiet")
    return tag("ul", *(tag("li", reason) for reason in case["reasons"]), class_=f"reasons {tone}")


def _accounting(case: Document) -> Markup:
    checked, counts, missing = faults_checked(case), case["accounting"], without_outcome(case)
    tiles = []
    for name in COUNTS:
        count = counts[name]
        if name in FAULTS:
            tone = "unchecked" if name not in checked else "bad" if count else "good"
        else:
            asked = {"received": case["parameters"]["consumers"], "acked": case["parameters"]["completions"]}
            tone = "" if asked.get(name, True) else "unchecked"
        shown = "not checked" if tone == "unchecked" else count_text(count)
        tiles.append(
            tag(
                "div",
                tag("dt", COUNT_NAMES[name]),
                tag("dd", shown, class_="count"),
                tag("dd", COUNT_MEANINGS[name], class_="meaning"),
                class_=f"tile {tone}".strip(),
            )
        )
    return tag(
        "div",
        tag("h3", "Accounting"),
        _proportions(case),
        tag("dl", *tiles, class_="tiles"),
        tag("p", f"{count_text(missing)} {_NO_OUTCOME}", class_="note bad-text") if missing else None,
        tag("p", warm_up_sentence(case), class_="note") if case["warm_up"] else None,
    )


def _proportions(case: Document) -> Markup | None:
    """What became of every message sent, as parts of one bar and in words."""
    counts = case["accounting"]
    if not case["parameters"]["consumers"]:
        return None
    lost = counts["lost_write"] + counts["unseen"]
    parts = {
        "received": ("good", counts["received"]),
        "lost or unseen": ("bad", lost),
        "failed, damaged or without outcome": ("warn", max(0, counts["sent"] - counts["received"] - lost)),
    }
    words = ", ".join(
        f"{_share_text(count, counts['sent'])} {name}" for name, (_, count) in parts.items() if count
    )
    segments = [
        tag("span", class_=tone, style=f"flex-grow:{count}") for tone, count in parts.values() if count
    ]
    bar = tag("div", *segments, class_="bar", role="img", aria_label=words)
    return tag("div", bar, tag("p", f"Of {count_text(counts['sent'])} sent: {words}.", class_="note"))


def _share_text(count: int, of: int) -> str:
    """Never rounds a loss away, nor up to all."""
    if count == of:
        return "100%"
    percent = 100 * count / of
    return "over 99.99%" if percent > 99.99 else "under 0.01%" if percent < 0.01 else f"{percent:.2f}%"


def _latency_table(case: Document) -> Markup:
    legs = {**case["latency_ms"], "intended_to_sent": case["schedule_lag_ms"]}
    negative = any(statistics["negative_count"] for statistics in legs.values())
    names = [name for name in STATISTICS if name != "negative_count" or negative]
    rows = [(LEG_NAMES[leg], *(_statistic(name, s[name]) for name in names)) for leg, s in legs.items()]
    caption = (
        "Latency of each leg, ms. Output is stamped in whole milliseconds: its legs are off by up to 1 ms"
    )
    header = ("leg", *(STATISTIC_NAMES[name] for name in names))
    return data_table(caption, header, rows, class_="statistics")


def _statistic(name: str, value: Any) -> str:
    return count_text(value) if name.endswith("count") else digits_text(value)


def _load(case: Document) -> Markup:
    throughput, range_s, lag = case["throughput"], case["range_s"], case["schedule_lag_ms"]
    published = {"sent": "sent", "acked": "published", "received": "consumed"}
    rows = [
        (
            name,
            rate_per_s_text(throughput[f"{name}_messages_per_s"]),
            bytes_per_s_text(throughput[f"{name}_bytes_per_s"]),
            s_text(range_s[in_ranges]),
        )
        for name, in_ranges in published.items()
    ]
    rows.append(("output", NOTHING, NOTHING, s_text(range_s["output"])))
    assert set(published.values()) | {"output"} == set(RANGE_NAMES)
    lag_text = f"p50 {digits_text(lag['p50'])} · p99 {digits_text(lag['p99'])} · max {ms_text(lag['max'])}"
    return tag(
        "div",
        data_table(
            "Throughput, and the range from the first to the last", ("", "messages", "bytes", "range"), rows
        ),
        _facts((("schedule lag", lag_text), ("drift of the median", _drift(case)))),
        class_="side-by-side",
    )


def _drift(case: Document) -> str:
    drift = case["drift_ms_per_s"]
    return NOTHING if drift is None else f"{digits_text(drift)} ms a second"


def _resources(case: Document) -> Markup:
    cpu = case["cpu_us_per_message"]
    used = " · ".join(f"{kind} {us_text(value)}" for kind, value in cpu.items() if value is not None)
    return _facts((("CPU a message", used or NOTHING), ("limit", limit_text(case))))


def _facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    return tag("dl", *(tag("div", tag("dt", k), tag("dd", v)) for k, v in pairs), class_="pairs")


_CLOCK_COLUMNS = ("agent", "host", "offset", "error bound", "drift, µs a second")


def _details(case: Document) -> list[Markup]:
    topics = [(row["topic"] or NOTHING, *_brief(row)) for row in case["topics"]]
    partitions = [(_partition_name(row), *_brief(row)) for row in case["partitions"]]
    columns = (
        *(COUNT_NAMES[name] for name in _BRIEF_COUNTS),
        "p50 ms",
        "p99 ms",
        "max ms",
        "sent",
        "received",
    )
    clocks = [
        (
            clock["agent"],
            clock["hostname"],
            *(digits_text(clock[name]) for name in ("offset_ms", "error_ms", "drift_ppm")),
        )
        for clock in case["clocks"]
    ]
    parameters = [
        (name, tag("td", value_text(value), class_="text")) for name, value in case["parameters"].items()
    ]
    folds = (
        _fold("Per topic", ("topic", *columns), topics),
        _fold("Per partition", ("topic / partition", *columns), partitions),
        _fold("Clocks, ms added to the agents' times", _CLOCK_COLUMNS, clocks),
        _fold("Parameters in force", ("parameter", "value"), parameters),
    )
    return [fold for fold in folds if fold is not None]


def _fold(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup | None:
    if not rows:
        return None
    table = data_table(title, header, rows, class_="settings" if len(header) == 2 else None)
    return tag("details", tag("summary", f"{title} ({len(rows)})"), table, class_="fold")


def _partition_name(row: Document) -> str:
    number = NOTHING if row["partition"] is None else row["partition"]
    return f"{row['topic'] or NOTHING} / {number}"


def _brief(row: Document) -> tuple[str, ...]:
    leg = "intended_to_received" if row["latency_ms"]["intended_to_received"]["count"] else "sent_to_acked"
    statistics = row["latency_ms"][leg]
    return (
        *(count_text(row["accounting"][name]) for name in _BRIEF_COUNTS),
        *(digits_text(statistics[name]) for name in ("p50", "p99", "max")),
        rate_per_s_text(row["throughput"]["sent_messages_per_s"]),
        rate_per_s_text(row["throughput"]["received_messages_per_s"]),
    )


def value_text(value: Any) -> str:
    """A setting, for people: lists and mappings on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={value_text(item)}" for key, item in value.items()) or NOTHING
    if isinstance(value, list):
        return ", ".join(value_text(item) for item in value) or NOTHING
    if isinstance(value, float):
        return f"{value:.10g}"
    return NOTHING if value is None else str(value)
