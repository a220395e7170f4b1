"""The page of a run that compares: verdicts on top, a matrix for each operation, all figures below."""

from __future__ import annotations

from collections import Counter

from streamgauge.report.comparison_console import by_matrix
from streamgauge.report.comparison_figures import heat_map, repetitions_figure
from streamgauge.report.comparison_markdown import setting_text
from streamgauge.report.comparison_words import (
    OPERATION_NAMES,
    TEMPERATURE_MEANINGS,
    cell_text,
    interval_text,
    library_text,
    p_text,
    percent_text,
    place_text,
    verdict_text,
)
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import Document
from streamgauge.report.page_environment import environment_section
from streamgauge.report.page_frame import filled_page, part, place_figures
from streamgauge.report.page_headline import fact, status_pill
from streamgauge.report.plot_parts import Figure
from streamgauge.report.quantities import NOTHING, count_text, digits_text
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.comparison_results import REPETITIONS

_STATISTICS = ("max", "min", "mean", "sd", "cv", "median")


def render_comparison(document: Document, tables: ResultTables) -> str:
    conditions, rows = document["comparison"], document["comparisons"]
    repetitions = tables.tables[REPETITIONS.name].to_pylist()
    figures: dict[str, Figure] = {}
    body: list[Markup | None] = [_header(document), _notes(conditions)]
    for operation, temperature, found in by_matrix(rows):
        name = f"{OPERATION_NAMES[operation]}, {temperature}"
        cells = list(found.values())
        mine = [r for r in repetitions if (r["operation"], r["temperature"]) == (operation, temperature)]
        plots = [
            heat_map(f"{name}: A/B, median", conditions, found),
            repetitions_figure(f"{name}: every repetition", conditions, cells, mine),
        ]
        body.append(
            tag(
                "section",
                tag("h2", name),
                tag("p", f"{TEMPERATURE_MEANINGS[temperature].capitalize()}.", class_="note"),
                place_figures(figures, f"{operation}-{temperature}", plots),
                _verdicts(name, conditions, cells),
                _figures(name, conditions, cells),
                class_="matrix",
            )
        )
    body += [_remarks(rows), _settings(conditions), environment_section(document["environment"])]
    return filled_page(f"{document['name']} · streamgauge", body, figures, part("reading_comparison.html"))


def _header(document: Document) -> Markup:
    conditions, rows = document["comparison"], document["comparisons"]
    return tag(
        "header",
        tag("p", "streamgauge comparison", class_="kicker"),
        tag("h1", document["name"], " ", status_pill(document["status"])),
        tag("p", tag("strong", "A "), library_text(conditions["a"]), class_="about"),
        tag("p", tag("strong", "B "), library_text(conditions["b"]), class_="about"),
        tag("p", "Run ", tag("code", document["run"]), class_="run-id"),
        tag("p", document["reason"], class_="run-reason") if document["reason"] else None,
        tag("div", _verdict_fact(rows), _accounting_fact(rows), _control_fact(rows), class_="facts"),
    )


def _verdict_fact(rows: list[Document]) -> Markup:
    tally = Counter(row["verdict"] for row in rows)
    judged = len(rows) - tally["inconclusive"]
    lines: list[object] = [" · ".join(f"{count} {name}" for name, count in tally.most_common())]
    return fact("Verdicts", f"{judged} of {len(rows)}", "decided", lines)


def _accounting_fact(rows: list[Document]) -> Markup:
    counts = {
        name: sum(row["accounting"][name] or 0 for row in rows) for name in ("expected", "missing", "failed")
    }
    bad = counts["missing"] or counts["failed"]
    unit = f"missing of {count_text(counts['expected'])}"
    line = (
        f"{count_text(counts['failed'])} trials failed"
        if counts["failed"]
        else "Every trial came to its end."
    )
    return fact(
        "Every message accounted for", count_text(counts["missing"]), unit, [line], "bad" if bad else "good"
    )


def _control_fact(rows: list[Document]) -> Markup:
    tainted = sum(row["is_tainted"] for row in rows)
    line = (
        "A differs from itself there: those verdicts are not to be trusted."
        if tainted
        else "A was nowhere found different from itself."
    )
    held = f"{len(rows) - tainted} of {len(rows)}"
    return fact("A/A control", held, "held", [line], "bad" if tainted else "good")


def _notes(conditions: Document) -> Markup:
    items = (tag("li", note) for note in conditions["notes"])
    return tag("section", tag("ul", *items, class_="reasons warn") if conditions["notes"] else None)


def _verdicts(name: str, conditions: Document, cells: list[Document]) -> Markup:
    header = (
        "cell",
        "verdict",
        "A/B",
        "95% interval",
        "p (Holm)",
        "detectable",
        "control",
        "CPU A",
        "CPU B",
        "JNI A",
        "JNI B",
    )
    rows = []
    for row in cells:
        bad = row["is_tainted"] or row["status"] != "ok"
        rows.append(
            (
                cell_text(row),
                tag("td", verdict_text(row, conditions), class_="text bad-text" if bad else "text"),
                _percent(row["ratio_percent"]["median"]),
                interval_text(row["interval_percent"]),
                p_text(row["p"]),
                NOTHING
                if row["detectable_percent"] is None
                else f"±{percent_text(row['detectable_percent'])}%",
                interval_text(row["control"]["interval_percent"]),
                *(digits_text(row["cpu_us_per_message"][side]) for side in ("a", "b")),
                *(digits_text(row["jni_calls_per_message"][side]) for side in ("a", "b")),
            )
        )
    caption = f"{name}: verdicts. Below 100% A is faster; CPU in µs a message; JNI calls a message"
    return data_table(caption, header, rows, class_="statistics verdicts")


def _figures(name: str, conditions: Document, cells: list[Document]) -> Markup:
    rows = []
    for row in cells:
        for side in ("a", "b"):
            times = row[side]
            values = [times["cv_percent"] if s == "cv" else times[f"{s}_us"] for s in _STATISTICS]
            humps = " ⁑" if times["is_two_humped"] else ""
            label = f"{cell_text(row)} · {conditions[side]['name']}{humps}"
            rows.append((label, times["count"], *map(digits_text, values)))
        ratios = (tag("td", _percent(row["ratio_percent"][s]), class_="ratio") for s in _STATISTICS)
        rows.append((f"{cell_text(row)} · A/B", row["pairs"], *ratios))
    header = ("cell", "n", "max", "min", "mean", "SD", "CV %", "median")
    table = data_table(
        f"{name}: times in µs, and their ratios. ⁑ two humps", header, rows, class_="statistics"
    )
    return tag("details", tag("summary", "All figures"), table, class_="fold")


def _remarks(rows: list[Document]) -> Markup | None:
    said = [(place_text(row), line) for row in rows for line in (*row["reasons"], *row["warnings"])]
    if not said:
        return None
    items = (tag("li", f"{place}: {line}") for place, line in said)
    summary = tag("summary", f"What to beware of ({len(said)})")
    return tag("details", summary, tag("ul", *items, class_="reasons"), class_="fold")


def _settings(conditions: Document) -> Markup | None:
    names = [conditions[side]["name"] for side in ("a", "b")]
    found = conditions["settings"]
    if not found:
        return None
    tables = []
    for title, is_shared in (
        ("Settings with the same meaning", True),
        ("Settings of one library alone", False),
    ):
        rows = [
            (
                f"{s['name']}, {s['role']}",
                *(tag("td", _setting(s, side), class_="text") for side in ("a", "b")),
            )
            for s in found
            if s["is_shared"] == is_shared
        ]
        if rows:
            table = data_table(f"{title}, as in force", ("setting", *names), rows, class_="settings")
            tables.append(
                tag(
                    "details",
                    tag("summary", f"{title} ({len(rows)})"),
                    table,
                    class_="fold",
                    open=is_shared or None,
                )
            )
    return tag("section", tag("h2", "Settings in force"), *tables)


def _setting(setting: Document, side: str) -> str:
    value = setting[side]
    if setting["is_shared"] or value is None:
        return setting_text(value)
    return str(value["value"])


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{percent_text(value)}%"
