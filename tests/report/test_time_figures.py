from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.plot_parts import Band, Plot
from streamgauge.report.result_tables import ResultTables, Row
from streamgauge.report.results import results_document
from streamgauge.report.time_figures import (
    cpu_figure,
    latency_figure,
    memory_figure,
    schedule_lag_figure,
    throughput_figure,
    traffic_figure,
)
from streamgauge.tables.results import RESOURCES


def _case(run: RunDir) -> tuple[Case, list[Row]]:
    tables = ResultTables.read(run)
    document = results_document(run, tables)
    assert isinstance(document, CasesDocument)
    return document.cases[0], tables.rows(RESOURCES, "001")


def _names(figure: Plot | None) -> list[str]:
    assert figure is not None
    return [line.name for line in figure.series]


def test_warm_up_is_shaded_and_named(one_case: RunDir) -> None:
    figure = latency_figure(_case(one_case)[0])
    assert figure is not None
    assert figure.bands == [Band("warm-up", 0, 4)]
    assert figure.series[0].x == list(range(30))
    assert figure.series[0].y[:4] == [None] * 4


def test_a_second_without_messages_is_a_gap(one_case: RunDir) -> None:
    case, _ = _case(one_case)
    case.seconds = [second for second in case.seconds if second.second not in (10, 11)]
    figure = throughput_figure(case)
    assert figure is not None
    assert figure.series[0].y[9:13] == [1001, None, None, 1001]


def test_lines_by_source(one_case: RunDir) -> None:
    case, resources = _case(one_case)
    processes = ["broker-1", "consumer-0", "consumer-1", "producer-0", "producer-1"]
    assert _names(cpu_figure(case, resources)) == sorted([*processes, "machine"])
    assert _names(memory_figure(case, resources)) == processes
    assert _names(traffic_figure(case, resources)) == [
        "network sent",
        "network received",
        "disk read",
        "disk written",
    ]
    assert _names(schedule_lag_figure(case)) == ["p50", "p99", "max"]


def test_no_data_no_figure(one_case: RunDir) -> None:
    case, _ = _case(one_case)
    case.seconds = []
    assert latency_figure(case) is None
    assert throughput_figure(case) is None
    assert cpu_figure(case, []) is None
