"""What the gallery calls true is true by the laws of the simulation, and what it calls wrong is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.cli.commands import app
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.drivers.simulated.simulation import (
    Laws,
    arrivals_ns,
    departures_ns,
    fates,
    latencies_ns,
    swayed_ns,
)
from streamgauge.gallery import exhibits
from streamgauge.gallery.exhibits import Exhibit, exhibits_of, messages_of
from streamgauge.gallery.show import show_gallery
from streamgauge.report.markdown_renderer import shown_markdown
from streamgauge.report.page_renderer import render_page
from streamgauge.report.quantities import digits_text
from tests.launch.simulated_run import simulate
from tests.report.sample_comparison import compared_run
from tests.serve.axe import violations_of

WORKLOAD: dict[str, Any] = yaml.safe_load(
    (Path(exhibits.__file__).parent / "shipped" / "gallery.yaml").read_text("utf-8")
)


SIZE_BYTES = 700
"""What is not said in the workload."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    folder = tmp_path_factory.mktemp("gallery")
    run, _ = simulate(folder, [WORKLOAD["targets"][0]["settings"]], WORKLOAD["load"])
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    return run


@pytest.fixture(scope="module")
def shown(run: RunDir) -> dict[str, Exhibit]:
    return {each.name: each for each in exhibits_of(run)}


@pytest.fixture(scope="module")
def truth_ms() -> np.ndarray:
    """Latency of every measured message from its due time, by the laws alone; not a number: lost."""
    laws = Laws.model_validate(WORKLOAD["targets"][0]["settings"])
    warm_up, measured = WORKLOAD["load"]["warm_up_messages"], WORKLOAD["load"]["messages"]
    count = warm_up + measured
    due = np.arange(count) * 1_000_000
    fate = fates(laws, 0, count, 1)
    taken = departures_ns(laws, 0, due)
    arrived = arrivals_ns(taken, swayed_ns(laws, latencies_ns(laws, 0, 0, count), due), fate, 1)
    latency = (arrived - due) / 1e6
    latency[fate.lost] = np.nan
    return latency[warm_up:]


def test_what_is_said_to_be_true_is(shown: dict[str, Exhibit], truth_ms: np.ndarray) -> None:
    came = truth_ms[~np.isnan(truth_ms)]
    of_figure = {
        "p50": np.percentile(came, 50),
        "p99": np.percentile(came, 99),
        "p99.9": np.percentile(came, 99.9),
        "mean": came.mean(),
        "highest shown": came.max(),
        "within 10 ms": 100 * (np.nan_to_num(truth_ms, nan=np.inf) <= 10).mean(),
        "mean before the stall": np.nanmean(truth_ms[:3_000]),
        "rate": 1000 * len(came) / len(truth_ms),
        "sent": 1000,
        "mean of the last second": np.nanmean(truth_ms[-1_000:]),
        "rate within bursts": 1000 * (~np.isnan(truth_ms[:1_000])).mean(),
        "p50 of A to B": 1.0,
        "throughput": 8 * SIZE_BYTES * len(came) / len(truth_ms),
        "lost": np.isnan(truth_ms).sum(),
    }
    checked = [each for each in shown.values() if each.figure in of_figure]
    assert len(checked) == len(shown) - 1, "all but an interval, which no law gives"
    for each in checked:
        rel = {"p50 of A to B": 0.03, "rate within bursts": 0.01}.get(each.figure, 2e-3)
        assert each.true == pytest.approx(of_figure[each.figure], rel=rel), each.name


def test_every_fault_gives_another_figure(shown: dict[str, Exhibit]) -> None:
    for each in shown.values():
        least = 1.001 if each.unit == "%" else 1.02
        assert each.factor > least, f"{each.name}: {each.wrong} beside {each.true}"


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("closed loop (coordinated omission)", 100),
        ("stamped at the actual send", 100),
        ("the best of N", 100),
        ("histograms merged by percentile", 100),
        ("mean of percentiles", 3),
        ("one stamp for a batch", 1.9),
        ("clock offset ignored", 2.5),
        ("messages as independent trials", 5),
        ("a set of values", 1.5),
        ("a pause after each send", 1.1),
        ("one burst a second", 1.5),
        ("a test of one second", 100),
        ("earlier rounds not cleared", 20),
        ("KiB called kilobits", 8),
        ("the broker's fetch wait", 20),
        ("duplicates make up for losses", 1.4),
    ],
)
def test_the_grave_ones_are_far_off(shown: dict[str, Exhibit], name: str, at_least: float) -> None:
    assert shown[name].factor > at_least, shown[name]


def test_a_stall_counts_for_every_message_that_it_delayed(shown: dict[str, Exhibit]) -> None:
    assert shown["closed loop (coordinated omission)"].true > 1000
    assert shown["closed loop (coordinated omission)"].wrong < 10


def test_one_system_in_turns_is_as_fast_as_itself(shown: dict[str, Exhibit]) -> None:
    assert shown["A always runs first"].true == pytest.approx(1, abs=0.05)


def test_lost_messages_have_no_time(run: RunDir) -> None:
    messages = messages_of(run).measured
    assert 500 < np.isnan(messages.received).sum() < 700
    assert len(messages.arrived.due) + np.isnan(messages.received).sum() == WORKLOAD["load"]["messages"]


def test_it_is_shown_in_words_and_figures(run: RunDir, shown: dict[str, Exhibit], tmp_path: Path) -> None:
    text = shown_markdown(show_gallery(list(shown.values()), run.id))
    for name, each in shown.items():
        assert name in text
        assert each.instead in text
    page = tmp_path / "gallery.html"
    said = CliRunner().invoke(app, ["gallery", "--run", run.location, "--json", "--html", str(page)])
    assert said.exit_code == 0, said.output
    assert [each["name"] for each in json.loads(said.stdout)] == list(shown)
    assert "coordinated omission" in page.read_text("utf-8")


def test_the_page_of_the_docs_has_these_figures(shown: dict[str, Exhibit]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "gallery.md").read_text("utf-8")
    for each in shown.values():
        row = f"| {each.name} | {each.figure} | {digits_text(each.wrong)} | {digits_text(each.true)} |"
        assert row in page, f"make it anew: python -m tools.gallery_page; {row}"


def test_a_run_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs a run of one case"):
        exhibits_of(compared_run(tmp_path))


@pytest.mark.browser
def test_nothing_in_the_gallery_keeps_anybody_out(run: RunDir, tmp_path: Path) -> None:
    assert violations_of(render_page(show_gallery(exhibits_of(run), run.id), None), tmp_path) == []
