from __future__ import annotations

from streamgauge.core.run_dir import RunDir
from streamgauge.core.steady_state import Unrest
from streamgauge.plan.warm_up_file import (
    Series,
    Waiting,
    WarmUp,
    WarmUpEnding,
    WarmUpLevels,
    note_warm_up,
)
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.plot_parts import Band
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.results import results_document
from streamgauge.report.warm_up_figure import warm_up_figure


def _case(run: RunDir) -> Case:
    document = results_document(run, ResultTables.read(run))
    assert isinstance(document, CasesDocument)
    return document.cases[0]


def _warm_up(ended: WarmUpEnding) -> WarmUp:
    return WarmUp(
        ended=ended,
        seconds=2.0,
        messages={0: 2000, 1: 2000},
        levels=WarmUpLevels(slot_s=0.25, latency_ms=[8.0] * 8 + [2.0] * 16, agents_cores=[0.5] * 24),
        waited=(
            Waiting(slot=2, series=Series.LATENCY, unrest=Unrest.TOO_SHORT),
            Waiting(slot=16, series=Series.SYSTEMS_CPU, unrest=Unrest.TREND, change=-0.25),
        ),
    )


def test_a_fixed_warm_up_has_no_course(one_case: RunDir) -> None:
    assert warm_up_figure(_case(one_case).warm_up_course) is None


def test_levels_against_where_they_ended_with_the_reason(one_case: RunDir) -> None:
    note_warm_up(one_case, "001", _warm_up(WarmUpEnding.AT_REST))
    figure = warm_up_figure(_case(one_case).warm_up_course)
    assert figure is not None
    assert [line.name for line in figure.series] == ["latency, median", "CPU of agents"]
    latency = figure.series[0]
    assert latency.x[:2] == [0.25, 0.5]
    assert (latency.y[0], latency.y[-1]) == (4.0, 1.0)
    assert latency.labels[0] == "8.0 ms"
    assert figure.bands == [Band("warm-up 2 s, until at rest", 0, 2.0)]
    assert figure.note == (
        "It waited for: latency, median (not long enough at one level) from 0.5 s; "
        "CPU of the system (a trend of -25%) from 4 s."
    )


def test_the_limit_is_named_as_the_end(one_case: RunDir) -> None:
    note_warm_up(one_case, "001", _warm_up(WarmUpEnding.LIMIT))
    figure = warm_up_figure(_case(one_case).warm_up_course)
    assert figure is not None
    assert "its limit, not at rest" in figure.bands[0].name
