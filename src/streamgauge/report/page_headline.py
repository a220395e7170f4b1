"""Top of the page: the facts of the whole run, and one row a case when there are several."""

from __future__ import annotations

from collections import Counter
from typing import Any

from streamgauge.core.status import NOT_ANALYSED
from streamgauge.report.markup import Markup, data_table, tag
from streamgauge.report.old_shape import NOT_RUN, Document
from streamgauge.report.parameters import Parameters, load_sentence
from streamgauge.report.quantities import (
    NOTHING,
    count_text,
    digits_text,
    ms_text,
    plural,
    rate_per_s_text,
)
from streamgauge.report.words import (
    COUNT_NAMES,
    FAULTS,
    LEG_NAMES,
    LIMIT_NAMES,
    fault_count,
    faults_checked,
    knob_columns,
    limit_text,
    main_leg,
    rate_columns,
    without_outcome,
)

_TONES = {"ok": "good", "failed": "bad", NOT_RUN: "quiet"} | dict.fromkeys(
    ("partial", "running", NOT_ANALYSED), "warn"
)


def status_pill(status: str) -> Markup:
    return tag("span", status, class_=f"pill {_TONES.get(status, 'quiet')}")


def about(case: Document) -> str:
    return f"{case['driver']} · {load_sentence(Parameters(**case['parameters']))}"


def header(document: Document, answer: Markup | None = None) -> Markup:
    """`answer`: what the run was made to find out, where that is not a latency."""
    cases = document["cases"]
    subject = about(cases[0]) if len(cases) == 1 else plural(len(cases), "case")
    reason = tag("p", document["reason"], class_="run-reason") if document["reason"] else None
    return tag(
        "header",
        tag("p", "streamgauge report", class_="kicker"),
        tag("h1", document["name"], " ", status_pill(document["status"])),
        tag("p", subject, class_="about"),
        tag("p", "Run ", tag("code", document["run"]), class_="run-id"),
        reason,
        tag(
            "div",
            _latency_fact(cases) if answer is None else answer,
            _accounting_fact(cases),
            _verdict_fact(document),
            class_="facts",
        ),
    )


def overview_table(cases: list[Document]) -> Markup:
    rows, knobs, rates = [], knob_columns(cases), rate_columns(cases)
    for case in cases:
        leg = main_leg(case)
        statistics, faults = case["latency_ms"][leg], fault_count(case)
        measured = case["accounting"]["sent"] > 0
        rows.append(
            (
                tag("a", case["case"], href=f"#case-{case['case']}"),
                tag("td", status_pill(case["status"]), class_="state"),
                *(_knob_cell(name, values[case["case"]]) for name, values in knobs.items()),
                *(digits_text(statistics[name]) for name in ("p50", "p99", "p99_9", "max")),
                *(rate_per_s_text(case[part][name]) for part, name in rates.values()),
                _fault_cell(faults) if measured else NOTHING,
                tag("td", LIMIT_NAMES.get(case["bottleneck"]["limit"], NOTHING), class_="text"),
            )
        )
    header_row = (
        "case",
        "status",
        *(tag("th", name, scope="col", class_="text" if name == "target" else None) for name in knobs),
        "p50",
        "p99",
        "p99.9",
        "max",
        *rates,
        "faults",
        "limit",
    )
    caption = "All cases. Latency in ms from the intended time (to the ack where there are no consumers)"
    return data_table(caption, header_row, rows, class_="overview")


def _knob_cell(name: str, value: str) -> Markup:
    return tag("td", value, class_="text" if name == "target" else None)


def _fault_cell(faults: int) -> Markup:
    return tag("td", count_text(faults), class_="bad-text" if faults else "good-text")


def fact(title: str, figure: object, unit: object, lines: list[object], tone: str = "") -> Markup:
    return tag(
        "section",
        tag("h2", title),
        tag("p", tag("span", figure, class_="figure"), " ", tag("span", unit, class_="unit"), class_="big"),
        *(tag("p", line) for line in lines if line is not None),
        class_=f"fact {tone}".strip(),
    )


def _latency_fact(cases: list[Document]) -> Markup:
    known = [case for case in cases if case["latency_ms"][main_leg(case)]["count"]]
    # Times to the ack are another thing: they stand here only when there is nothing else.
    known = [case for case in known if case["parameters"]["consumers"]] or known
    if not known:
        return fact("Latency from the intended time", NOTHING, "", ["No message has a latency."])
    if len(known) > 1:
        p99 = sorted(case["latency_ms"][main_leg(case)]["p99"] for case in known)
        worst = max(known, key=lambda case: float(case["latency_ms"][main_leg(case)]["max"]))
        lines: list[object] = [
            f"lowest and highest of {len(known)} cases",
            f"max {ms_text(worst['latency_ms'][main_leg(worst)]['max'])}, in case {worst['case']}",
        ]
        return fact(
            "Latency from the intended time",
            f"{digits_text(p99[0])} – {digits_text(p99[-1])}",
            "ms p99",
            lines,
        )
    leg = main_leg(known[0])
    statistics = known[0]["latency_ms"][leg]
    from_intended = leg == "intended_to_received"
    lag = known[0]["schedule_lag_ms"]
    lines = [
        _quantile_line(statistics),
        f"{LEG_NAMES[leg]}, {plural(statistics['count'], 'message')}, none dropped",
        # This leg does not know of a late send, so the lateness is said beside it.
        None if from_intended else f"and sent itself after it was due: p99 {ms_text(lag['p99'])}",
    ]
    title = "Latency from the intended time" if from_intended else "Latency to the acknowledgement"
    return fact(title, digits_text(statistics["p99"]), "ms p99", lines)


def _quantile_line(statistics: dict[str, Any]) -> str:
    return (
        f"p50 {digits_text(statistics['p50'])} · p99.9 {digits_text(statistics['p99_9'])}"
        f" · max {digits_text(statistics['max'])} ms"
    )


def _accounting_fact(cases: list[Document]) -> Markup:
    sent = sum(case["accounting"]["sent"] for case in cases)
    checked = [case for case in cases if case["parameters"]["consumers"]]
    counts: Counter[str] = Counter()
    for case in cases:
        counts.update({name: case["accounting"][name] for name in faults_checked(case)})
    counts["no_outcome"] = sum(without_outcome(case) for case in cases)
    faults = sum(counts.values())
    title = "Every message accounted for"
    if not sent:
        return fact(title, "0", "messages sent", ["Nothing was measured."], "warn")
    note = None
    if len(checked) < len(cases):
        which = "" if len(cases) == 1 else f" in {plural(len(cases) - len(checked), 'case')}"
        note = f"Receipt not checked{which}: no consumers."
    if not faults:
        none = "no lost, duplicate, reordered or corrupt message" if checked else "every send acknowledged"
        return fact(title, "0", f"faults in {count_text(sent)}", [_capital(none), note], "good")
    names = {**{name: COUNT_NAMES[name] for name in FAULTS}, "no_outcome": "without outcome"}
    named = " · ".join(f"{count_text(counts[key])} {name}" for key, name in names.items() if counts[key])
    return fact(title, count_text(faults), f"faults in {count_text(sent)}", [named, note], "bad")


def _verdict_fact(document: Document) -> Markup:
    cases, status = document["cases"], document["status"]
    tone = _TONES.get(status, "")
    if len(cases) > 1:
        tally = Counter(case["status"] for case in cases)
        limits = Counter(LIMIT_NAMES.get(case["bottleneck"]["limit"], "not known") for case in cases)
        words = " · ".join(f"{count} {name}" for name, count in tally.items())
        limit = ", ".join(f"{name} ({count})" for name, count in limits.most_common(3))
        # What limits the cases below the limit of a search is of no interest.
        lines: list[object] = [words, f"Limit: {limit}" if document["limit"] is None else None]
        return fact("Verdict", status.upper(), "", lines, tone)
    case = cases[0]
    reasons: list[object] = case["reasons"][:2] if case["status"] != "ok" else []
    return fact("Verdict", status.upper(), "", [*reasons, f"Limit: {limit_text(case)}"], tone)


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
