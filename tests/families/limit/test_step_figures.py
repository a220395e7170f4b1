"""The quick look of a search against the whole analysis: the same figures, to the last message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.run_dir import RunDir
from streamgauge.families.limit.step_figures import step_figures
from streamgauge.report.document import document_text
from streamgauge.report.results import results_document
from streamgauge.spec.metrics import OF_MESSAGES
from tests.launch.simulated_run import simulate

TROUBLED: dict[str, Any] = {
    "seed": 5,
    "latency": {"law": "lognormal", "median_ms": 3.0, "sigma": 0.6},
    "loss": 0.01,
    "duplication": 0.02,
    "reordering": 0.03,
    "corruption": 0.01,
}


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[dict[str, float | None], dict[str, Any]]]:
    """Figures of the same cases: at a glance, and from the document."""
    load = {
        "producers": 2,
        "consumers": 2,
        "duration": "2s",
        "rate": "1500/s",
        "warm_up_messages": 501,
        "topics": {"name": "steps", "partitions": 3},
    }
    settings = [TROUBLED, {"capacity_per_s": 600.0}]
    run, plan = simulate(tmp_path_factory.mktemp("steps"), settings, load)
    looks = [step_figures(run, case) for case in plan.cases]
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    cases = json.loads(document_text(results_document(run)))["cases"]
    return list(zip(looks, cases, strict=True))


@pytest.mark.parametrize("number", [0, 1])
def test_latencies_are_those_of_the_analysis(number: int, both: list[Any]) -> None:
    look, case = both[number]
    latency = case["latency_ms"]["intended_to_received"]
    for name in ("mean", "p50", "p75", "p90", "p95", "p98", "p99", "p99.9", "max"):
        # The document has whole nanoseconds.
        assert look[name] == pytest.approx(latency[name.replace(".", "_")], abs=1e-6)


@pytest.mark.parametrize("number", [0, 1])
def test_counts_are_those_of_the_accounting(number: int, both: list[Any]) -> None:
    look, case = both[number]
    counted = case["accounting"]
    assert look["sent"] == counted["sent"] == 3000
    assert look["lost"] == counted["lost_write"] + counted["unseen"]
    for name in ("failed", "duplicate", "out_of_order", "corrupt", "unexpected"):
        assert look[name] == counted[name]
    if number == 0:
        assert min(look[name] for name in ("lost", "duplicate", "out_of_order", "corrupt")) > 0


@pytest.mark.parametrize("number", [0, 1])
def test_the_rate_delivered_is_that_of_throughput(number: int, both: list[Any]) -> None:
    look, case = both[number]
    assert look["delivered_per_s"] == pytest.approx(case["throughput"]["received_messages_per_s"])


def test_a_case_of_which_nothing_came_has_no_latency(tmp_path: Path) -> None:
    run, plan = simulate(tmp_path, [{"loss": 1.0}], {"messages": 10, "rate": 100})
    look = step_figures(RunDir(run.location), plan.cases[0])
    assert look["lost"] == 10
    assert look["p99"] is None
    assert look["delivered_per_s"] is None


def test_percentiles_that_reports_do_not_show_are_there_when_asked_for(tmp_path: Path) -> None:
    run, plan = simulate(tmp_path, [TROUBLED], {"messages": 2000, "rate": 1000})
    asked = [OF_MESSAGES.find(name) for name in ("p42", "p99.95", "p99", "lost")]
    look = step_figures(run, plan.cases[0], [metric for metric in asked if metric])
    found = [look[name] or 0.0 for name in ("p42", "p50", "p99", "p99.95", "max")]
    assert found == sorted(found)
    assert 0 < found[0] < found[1]


@pytest.mark.parametrize(
    ("transient", "went"),
    [
        ({"shape": "ramp", "times": 0.8}, "rose"),
        ({"shape": "decay", "times": 9, "for": 1.0}, "fell"),
        ({"shape": "step", "times": 0.02, "at": 2.0}, None),
    ],
)
def test_a_latency_that_changes_while_it_is_measured_is_told(
    transient: dict[str, Any], went: str | None, tmp_path: Path
) -> None:
    load = {"duration": "6s", "rate": "500/s"}
    run, plan = simulate(tmp_path, [{"latency": {"median_ms": 3.0}, "transients": [transient]}], load)
    found = step_figures(run, plan.cases[0])
    assert [name for name in ("rose", "fell") if f"{name}_from_ms" in found] == ([went] if went else [])
    if went:
        low, high = sorted((found[f"{went}_from_ms"] or 0, found[f"{went}_to_ms"] or 0))
        assert high > 1.5 * low > 3.0
