from __future__ import annotations

import numpy as np
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.figures import nines, percentile_figure, side_by_side_figure
from streamgauge.report.result_tables import ResultTables
from streamgauge.tables.results import HISTOGRAM

from .sample_run import cases_of_run


def test_every_nine_has_the_same_room() -> None:
    assert [round(nines(q), 6) for q in (0, 0.9, 0.99, 0.999)] == [0, 1, 2, 3]


def test_curves_go_through_the_percentiles_of_the_table(one_case: RunDir) -> None:
    tables = ResultTables.read(one_case)
    [case] = cases_of_run(one_case)
    figure = percentile_figure(case, tables.rows(HISTOGRAM, "001"))
    assert figure is not None
    line = figure.series[0]
    assert line.name == "received − intended"
    statistics = case.latency_ms.intended_to_received.model_dump()
    assert line.y[0] == pytest.approx(statistics["min"], rel=1e-4)
    assert line.y[-1] == pytest.approx(statistics["max"], rel=1e-4)
    assert (line.labels[0], line.labels[-1]) == ("0.0000%", "max")
    for name, quantile in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
        # The curve is drawn through 160 points, and it is steep where the stall begins.
        read = np.interp(nines(quantile), np.array(line.x, float), np.array(line.y, float))
        assert read == pytest.approx(statistics[name], rel=0.2 if name == "p90" else 0.03)
    assert [tick.text for tick in figure.x.ticks] == ["50%", "90%", "99%", "99.9%", "99.99%"]
    assert [tick.place for tick in figure.x.ticks[1:]] == [1, 2, 3, 4]


def test_values_below_zero_are_spoken_of(one_case: RunDir) -> None:
    tables = ResultTables.read(one_case)
    [case] = cases_of_run(one_case)
    rows = tables.rows(HISTOGRAM, "001")
    figure = percentile_figure(case, rows)
    assert figure is not None
    assert figure.y.scale == "log"
    assert figure.note is not None
    assert "at or below zero" in figure.note
    positive = percentile_figure(case, [row for row in rows if row["leg"] == "intended_to_received"])
    assert positive is not None
    assert positive.note is None


def test_one_message_is_a_curve_too(one_case: RunDir) -> None:
    [case] = cases_of_run(one_case)
    rows = [{"case": "001", "leg": "intended_to_received", "value_ms": 2.0, "count": 1}]
    figure = percentile_figure(case, rows)
    assert figure is not None
    assert figure.series[0].x == [0]


def test_cases_are_laid_over_each_other(sweep: RunDir) -> None:
    tables = ResultTables.read(sweep)
    cases = cases_of_run(sweep)
    cases[0].target = "<b>x</b>"
    figure = side_by_side_figure([(case, tables.rows(HISTOGRAM, case.case)) for case in cases])
    assert figure is not None
    assert [line.name[:3] for line in figure.series] == ["001", "002", "003", "004"]
    assert figure.series[0].name.startswith("001 <b>x")
    assert figure.series[3].name.endswith("(acked − sent)")
    assert side_by_side_figure([]) is None
