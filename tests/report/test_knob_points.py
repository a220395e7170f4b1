from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.knob_points import Point, knob_plot
from streamgauge.report.results import results_document

from .plotted import document_of, point_case


def test_points_are_the_cases_figures_over_the_knob() -> None:
    cases = [point_case(partitions=n, mean=10.0 * n, messages=100) for n in (4, 1, 2)]
    plot = knob_plot([document_of("run-a", cases)])
    assert plot is not None
    assert (plot.knob, plot.values, plot.series) == ("partitions", (1, 2, 4), ("kafka",))
    [panel] = plot.panels
    assert panel.points["kafka"][4] == Point(1.0, 40.0, 80.0, 100 * 64 / 1024, 100.0)


def test_rounds_are_put_together_as_if_they_were_one() -> None:
    one = point_case(partitions=2, mean=10.0, messages=100, runtime_s=2.0)
    two = point_case(partitions=2, mean=20.0, messages=300, runtime_s=4.0, iteration=2)
    plot = knob_plot([document_of("run-a", [one, two])], "partitions")
    assert plot is not None
    point = plot.panels[0].points["kafka"][2]
    assert point.mean_ms == pytest.approx((10 * 100 + 20 * 300) / 400)
    assert point.max_ms == 40.0
    assert point.messages_per_s == pytest.approx((100 + 300) * 2 / 6)


def test_cases_that_differ_in_other_knobs_come_apart_into_panels() -> None:
    cases = [point_case(partitions=p, acks=acks) for acks in ("1", "all") for p in (1, 2)]
    plot = knob_plot([document_of("run-a", cases)])
    assert plot is not None
    assert [panel.title for panel in plot.panels] == ["acks 1", "acks all"]
    assert all(set(panel.points["kafka"]) == {1, 2} for panel in plot.panels)


def test_any_knob_can_be_the_axis() -> None:
    cases = [point_case(partitions=p, message_size=s) for p in (1, 2) for s in (64, 1024)]
    plot = knob_plot([document_of("run-a", cases)], "message-size")
    assert plot is not None
    assert [plot.label(value) for value in plot.values] == ["64 B", "1.0 KiB"]
    assert [panel.title for panel in plot.panels] == ["partitions 1", "partitions 2"]


def test_sizes_by_a_law_have_their_place_on_the_axis_too() -> None:
    cases = [point_case(message_size=size) for size in (64, {"uniform": [10, 100]})]
    plot = knob_plot([document_of("run-a", cases)])
    assert plot is not None
    assert set(plot.panels[0].points["kafka"]) == set(plot.values) == {64, "{'uniform': [10, 100]}"}


def test_the_knob_with_the_most_values_is_taken_where_none_is_named() -> None:
    cases = [point_case(message_size=s, acks=a) for s in (64, 100, 1024) for a in ("1", "all")]
    plot = knob_plot([document_of("run-a", cases)])
    assert plot is not None
    assert plot.knob == "message-size"


def test_where_no_knob_was_turned_there_is_no_plot_unless_asked_for() -> None:
    document = document_of("run-a", [point_case()])
    assert knob_plot([document]) is None
    plot = knob_plot([document], "partitions")
    assert plot is not None
    assert plot.values == (1,)


@pytest.mark.parametrize(
    ("targets", "runs", "series"),
    [
        (("msk", "dev"), ("r-1", "r-2"), ("msk", "dev")),
        (("kafka", "kafka"), ("2026-a1", "2026-b2"), ("kafka a1", "kafka b2")),
        (("kafka", "kafka"), ("x-a1", "y-a1"), ("kafka x-a1", "kafka y-a1")),
    ],
)
def test_clusters_and_runs_stand_side_by_side(
    targets: tuple[str, str], runs: tuple[str, str], series: tuple[str, str]
) -> None:
    documents = [
        document_of(run, [point_case(partitions=p, target=target) for p in (1, 2)])
        for run, target in zip(runs, targets, strict=True)
    ]
    plot = knob_plot(documents)
    assert plot is not None
    assert plot.series == series
    assert [set(points) for points in plot.panels[0].points.values()] == [{1, 2}, {1, 2}]
    assert plot.notes == ()


def test_different_environments_are_said() -> None:
    one = document_of("run-a", [point_case(partitions=p) for p in (1, 2)])
    other = one.model_copy(update={"run": "run-b", "environment": {"cpu": "another", "cores": 2}})
    plot = knob_plot([one, other])
    assert plot is not None
    assert plot.notes == ("The runs' environments differ: cpu.",)


def test_swap_disk_and_sysctls_are_part_of_an_environment_and_what_is_not_told_is_no_difference() -> None:
    plain = document_of("run-a", [point_case(partitions=p) for p in (1, 2)])
    told = {"swap_bytes": 0, "disk": {"file_system": "ext4"}, "sysctls": {"vm.swappiness": "60"}}
    one = plain.model_copy(update={"environment": plain.environment | told})
    swapping = one.model_copy(
        update={"run": "run-b", "environment": one.environment | {"swap_bytes": 2**30, "disk": {}}}
    )
    differing, untold = (
        knob_plot([one, swapping]),
        knob_plot([one, plain.model_copy(update={"run": "run-b"})]),
    )
    assert differing is not None
    assert untold is not None
    assert differing.notes == ("The runs' environments differ: swap_bytes, disk.",)
    assert untold.notes == ()


def test_what_failed_or_has_no_latency_is_said(sweep: RunDir) -> None:
    document = results_document(sweep)
    assert isinstance(document, CasesDocument)
    plot = knob_plot([document])
    assert plot is not None
    assert plot.knob == "message-size"
    assert "1 case without latency: not in the plot." in plot.notes
    assert "Not all went well in case 002, 003." in plot.notes


def test_a_knob_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="--x colour: there is no such knob; allowed: topics"):
        knob_plot([document_of("run-a", [point_case()])], "colour")


def test_a_run_without_any_latency_is_refused() -> None:
    with pytest.raises(BadInput, match="no case with a latency"):
        knob_plot([document_of("run-a", [])], "partitions")


def test_what_follows_from_a_knob_makes_no_panel() -> None:
    """As a time limit and a count follow from a rate: only what tells cases apart beside it does."""
    cases = [
        point_case(rate=rate, swept={"rate": rate, "time_limit": 2 * rate, "messages": 10 * rate, "x": x})
        for rate in (100.0, 1000.0)
        for x in ("a", "b")
    ]
    plot = knob_plot([document_of("run-a", cases)], "rate")
    assert plot is not None
    assert [panel.title for panel in plot.panels] == ["x a", "x b"]
    assert all(set(panel.points["kafka"]) == {100.0, 1000.0} for panel in plot.panels)
