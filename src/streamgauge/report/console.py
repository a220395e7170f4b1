"""Results on the console; fits 80 columns, and reads well in a file."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from streamgauge.core.status import NOT_ANALYSED
from streamgauge.report.comparison_console import print_comparison
from streamgauge.report.fanout_console import print_fanout
from streamgauge.report.hosts import clock_words, hosts_of
from streamgauge.report.limit_console import print_limit
from streamgauge.report.old_shape import COUNTS, RANGE_NAMES, STATISTICS, Document
from streamgauge.report.parameters import Parameters, load_sentence
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
from streamgauge.report.transport_text import print_transports
from streamgauge.report.words import (
    COUNT_NAMES,
    LEG_NAMES,
    STATISTIC_NAMES,
    case_title,
    fault_count,
    faults_checked,
    knob_columns,
    limit_text,
    main_leg,
    rate_columns,
    warm_up_sentence,
    without_outcome,
)

_STATUS_STYLES = {
    "ok": "bold green",
    "failed": "bold red",
    "partial": "bold yellow",
    NOT_ANALYSED: "bold yellow",
    "running": "bold cyan",
    "not run": "dim",
}
_LABEL_WIDTH, _GAP = 12, 2
_WHOLE_AT_MOST = 6
"""Of more cases than this the overview has to do; the page has the rest."""


def print_results(document: Document, console: Console) -> None:
    """All cases of a run; more than one get an overview first."""
    cases = document["cases"]
    heading = Text.assemble("Run ", (document["run"], "bold"), "  ", _status(document["status"]))
    console.print(heading)
    if document["reason"]:
        console.print(Text(document["reason"], "red"))
    if document["comparison"] is not None:
        print_comparison(document, console)
    if document["limit"] is not None:
        print_limit(document, console)
        return
    if document["transports"] is not None:
        print_transports(document["transports"], console)
        return
    if "fanout" in document:
        print_fanout(document, console)
    if len(cases) > 1:
        console.print()
        console.print(_overview(cases))
    if len(cases) > _WHOLE_AT_MOST:
        for case in cases:
            _print_trouble(case, console)
        return
    for case in cases:
        console.print()
        _print_case(case, console)


def _overview(cases: list[Document]) -> Table:
    title = "Overview (latency in ms from the intended time; to the ack without consumers)"
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.title, table.title_justify = title, "left"
    table.add_column("case")
    knobs = knob_columns(cases)
    for name in knobs:
        table.add_column(name, overflow="fold", justify="left" if name == "target" else "right")
    # Columns of knobs take their room from what can be spared.
    rates = {name: place for name, place in rate_columns(cases).items() if name != "sent" or len(knobs) < 3}
    for name in ("p50", "p99", "max", *rates, "faults"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("status")
    for case in cases:
        statistics = case["latency_ms"][main_leg(case)]
        faults = fault_count(case) if case["accounting"]["sent"] else None
        table.add_row(
            Text(case["case"]),
            *(Text(values[case["case"]]) for values in knobs.values()),
            *(digits_text(statistics[name]) for name in ("p50", "p99", "max")),
            *(_short_rate(case[part][name]) for part, name in rates.values()),
            Text(count_text(faults), "red" if faults else "green"),
            _status(case["status"]),
        )
    return table


def _print_trouble(case: Document, console: Console) -> None:
    """Of many cases only those in trouble are told of one by one."""
    if case["status"] != "ok":
        style = _STATUS_STYLES.get(case["status"], "").removeprefix("bold ")
        why = "; ".join(case["reasons"]) or "no reason is known"
        console.print(Text(f"• case {case['case']}: {why}", style))


def _short_rate(per_s: float | None) -> str:
    return rate_per_s_text(per_s).removesuffix("/s")


def _print_case(case: Document, console: Console) -> None:
    console.print(Rule(Text.assemble((f"Case {case['case']}", "bold")), align="left", style="dim"))
    console.print(
        Text.assemble((case_title(case), "bold"), f" ({case['driver']})  ", _status(case["status"]))
    )
    console.print(Text(load_sentence(Parameters(**case["parameters"])), "dim"))
    style = _STATUS_STYLES.get(case["status"], "").removeprefix("bold ")
    for reason in case["reasons"]:
        console.print(Padding(Text(f"• {reason}", style if case["status"] != "ok" else ""), (0, 0, 0, 2)))
    if case["accounting"]["sent"] == 0:
        console.print(Text("No message was measured.", "yellow"))
        return
    console.print(_latency(case))
    console.print(_facts(case, console.width - _LABEL_WIDTH - _GAP))


def _latency(case: Document) -> Table:
    """Statistics as rows and legs as columns: so all of them fit 80 columns."""
    legs = {**case["latency_ms"], "intended_to_sent": case["schedule_lag_ms"]}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("latency\nms")
    for leg in legs:
        table.add_column(LEG_NAMES[leg].replace(" − ", "\n− "), justify="right", no_wrap=True)
    for name in STATISTICS:
        values = [statistics[name] for statistics in legs.values()]
        if name == "negative_count" and not any(values):
            continue
        text = count_text if name.endswith("count") else digits_text
        strong = "bold" if name in ("p50", "p99", "max") else ""
        table.add_row(STATISTIC_NAMES[name], *(text(value) for value in values), style=strong)
    return table


def _facts(case: Document, width: int) -> Table:
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(style="dim", width=_LABEL_WIDTH)
    table.add_column(overflow="fold")

    def add(label: str, items: Iterable[str | Text]) -> None:
        table.add_row(label, _wrapped(items, width))

    range_s, throughput, lag = case["range_s"], case["throughput"], case["schedule_lag_ms"]
    add("range", (f"{name} {s_text(range_s[name])}" for name in RANGE_NAMES))
    add("accounting", _accounting(case))
    if warm_up := warm_up_sentence(case):
        table.add_row("warm-up", Text(warm_up))
    rates = (
        f"{name} {rate_per_s_text(throughput[f'{name}_messages_per_s'])}"
        f" ({bytes_per_s_text(throughput[f'{name}_bytes_per_s'])})"
        for name in ("sent", "acked", "received")
        if throughput[f"{name}_messages_per_s"] is not None
    )
    add("throughput", rates)
    add("schedule lag", (f"{name} {ms_text(lag[name])}" for name in ("p50", "p99", "max")))
    cpu = case["cpu_us_per_message"].items()
    add("CPU/message", (f"{kind} {us_text(value)}" for kind, value in cpu if value is not None))
    if case["drift_ms_per_s"] is not None:
        table.add_row("drift", f"{digits_text(case['drift_ms_per_s'])} ms a second, of the median latency")
    table.add_row("bottleneck", Text(limit_text(case)))
    if len(hosts := hosts_of(case)) > 1:
        add("hosts", (f"{host}: {', '.join(agents)}" for host, agents in hosts.items()))
    if any(clock["readings"] for clock in case["clocks"]):
        add("clocks", clock_words(case))
    return table


def _accounting(case: Document) -> list[Text]:
    """Every count; a fault is red, and a checked absence of faults is green."""
    checked, has_consumers = faults_checked(case), case["parameters"]["consumers"] > 0
    items = []
    for name in COUNTS:
        count = case["accounting"][name]
        words = f"{COUNT_NAMES[name]} {count_text(count)}"
        if name in checked:
            items.append(Text(words, "bold red" if count else "green"))
        elif name == "acked" and not case["parameters"]["completions"]:
            items.append(Text("acks not asked for"))
        elif name in ("sent", "acked", "received") and (has_consumers or name != "received"):
            items.append(Text(words))
    if missing := without_outcome(case):
        items.append(Text(f"no outcome {count_text(missing)}", "bold red"))
    if not has_consumers:
        items.append(Text("receipt not checked: no consumers"))
    return items


def _wrapped(items: Iterable[str | Text], width: int) -> Text:
    """Items on as many lines as they need; none is broken, so a number keeps its name and unit."""
    text, used = Text(), 0
    for item in items:
        if used and used + 3 + len(item) > width:
            text.append("\n")
            used = 0
        elif used:
            text.append(" · ")
            used += 3
        text.append(item)
        used += len(item)
    return text if text else Text(NOTHING)


def _status(status: str) -> Text:
    return Text(status.upper(), _STATUS_STYLES.get(status, "bold"))
