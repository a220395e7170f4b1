from __future__ import annotations

from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.report.cases_show import latency_fact, overview_table
from streamgauge.report.medium import Medium, Tone

from .sample_run import cases_of_run, single_run
from .seen import shown


def test_the_headline_figure_is_green_nowhere_and_amber_where_it_may_not_be_quoted(
    one_case: RunDir, sweep: RunDir
) -> None:
    fact = latency_fact(cases_of_run(one_case))
    assert (fact.unit, fact.tone) == ("ms p99", Tone.PLAIN)
    assert latency_fact(cases_of_run(sweep)).tone is Tone.WARN


def test_a_headline_of_few_messages_is_marked(one_case: RunDir) -> None:
    [case] = cases_of_run(one_case)
    case.latency_ms.intended_to_received.count = 600
    fact = latency_fact([case])
    assert fact.figure.startswith("~")
    assert "p99.9 ~" in fact.lines[0]


def test_of_several_cases_those_with_few_messages_are_marked(sweep: RunDir) -> None:
    cases = cases_of_run(sweep)[:2]
    assert "~" not in latency_fact(cases).figure
    fewer = max(cases, key=lambda case: case.main_latency.p99 or 0.0)
    fewer.latency_ms.intended_to_received.count = 600
    low, high = latency_fact(cases).figure.split(" – ")
    assert (low[0] == "~", high[0] == "~") == (False, True)


def test_to_the_ack_is_another_thing(tmp_path: Path) -> None:
    fact = latency_fact(cases_of_run(single_run(tmp_path / "run", consumers=0)))
    assert fact.title == "Latency to the ack"
    assert fact.lines[-1].startswith("and sent itself after it was due")


def test_an_overview_has_both_verdicts_of_every_case(sweep: RunDir) -> None:
    table = overview_table(cases_of_run(sweep))
    names = [column.name for column in table.columns]
    found = [
        tuple(row.cells[names.index(name)].value for name in ("case", "status", "integrity", "validity"))
        for row in table.rows
    ]
    assert found == [
        ("001", "ok", "all accounted for", "valid"),
        ("002", "failed", "messages lost", "valid"),
        ("003", "partial", "all accounted for", "do not quote"),
        ("004", "ok", "all accounted for", "valid"),
        ("005", "not run", "not measured", "not measured"),
    ]


def test_many_cases_are_left_to_the_page(sweep: RunDir) -> None:
    sections = shown(sweep).sections
    cases = [section for section in sections if section.id]
    assert len(cases) == 5
    assert all(Medium.CONSOLE in section.where for section in cases)
    assert all(section.is_open is False for section in cases)
