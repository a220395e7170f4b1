from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from streamgauge.comparing import between_runs
from streamgauge.comparing.between_runs import LEARNED_WEIGHT, USUAL, Spread, learned_sd, spread_for, usual_sd
from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import SpreadSource
from streamgauge.comparing.measured import measured_run
from streamgauge.comparing.show import spread_words
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.report.write import write_report
from streamgauge.spec.metrics import RATE, percentile

from .simulated_pairs import simulated

P50, P99 = percentile("p50"), percentile("p99")
LEVELS = (1.0, 1.3, 0.9, 1.2, 1.0, 1.25)
"""Of earlier runs: far more than 3% apart."""


def named(number: int) -> str:
    return f"202601{number:02d}-000000-e2e-{number:04d}"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    run = simulated(tmp_path_factory.mktemp("one"), 1.0)
    write_report(run)
    return run


def series_of(one: RunDir, folder: Path, *levels: float) -> list[RunDir]:
    """The same run, one after another, as if its latencies had been so many times as high."""
    for number, level in enumerate(levels, 1):
        place = folder / named(number)
        shutil.copytree(one.local(), place)
        run = RunDir(str(place))
        run.write_json(run.plan, {**run.read_json(run.plan), "run": run.id})
        document = run.read_json(run.results_document)
        leg = document["cases"][0]["latency_ms"]["intended_to_received"]
        leg |= {name: level * leg[name] for name in ("p50", "p90", "p99", "p99_9", "mean")}
        run.write_json(run.results_document, document)
    return runs_in(str(folder))


def test_what_is_usual_is_twice_as_much_in_the_tail() -> None:
    assert P50 is not None
    assert P99 is not None
    assert [USUAL.sd({}, metric) for metric in (P50, P99, RATE)] == [(0.03, 10), (0.06, 10), (0.03, 10)]
    assert Spread(10.0).sd({}, P99)[0] == pytest.approx(0.2)


@pytest.mark.parametrize("true_sd", [0.01, 0.1, 0.3])
def test_many_runs_tell_what_they_are_apart_by_and_one_change_for_good_does_not_count(true_sd: float) -> None:
    rng = np.random.default_rng(7)
    values = np.exp(rng.normal(0.0, true_sd, 400))
    values[200:] *= 5
    assert learned_sd(list(values), 0.03) == pytest.approx(true_sd, rel=0.3)


def test_runs_that_agree_to_the_last_digit_leave_something_of_what_is_usual() -> None:
    assert learned_sd([1.0] * 5, 0.03) == pytest.approx(0.03 * math.sqrt(2 / 6))


def test_earlier_runs_of_the_workload_are_learned_from(one: RunDir, tmp_path: Path) -> None:
    assert P50 is not None
    runs = series_of(one, tmp_path, *LEVELS, 1.1)
    base, new = measured_run(runs[-2]), measured_run(runs[-1])
    found = spread_for([base], [[new]], runs)
    assert (found.source, found.run_count) == (SpreadSource.EARLIER_RUNS, 6)
    sd, weight = found.sd(base.parts[0].settings, P50)
    assert 0.1 < sd < 0.4
    assert weight == LEARNED_WEIGHT
    assert found.sd({"target": "another"}, P50) == (usual_sd(P50.share), 10)
    document = diff_document([base], [[new]])
    assert document.between_runs_from is SpreadSource.EARLIER_RUNS
    assert "learned from 6 earlier runs" in spread_words(document)
    wide, narrow = (
        found.differences[0].cases[0].metrics[0].interval
        for found in (document, diff_document([base], [[new]], between_runs_percent=3.0))
    )
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0], "the machine is known to be noisier"


def test_what_is_asked_for_comes_first(one: RunDir) -> None:
    base = measured_run(one)
    assert spread_for([base], [], [one], 1.0) == Spread(1.0, SpreadSource.ASKED)


@pytest.mark.parametrize("why", ["too few", "another machine", "not valid"])
def test_else_it_is_the_usual(one: RunDir, tmp_path: Path, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(between_runs, "FEWEST_RUNS", 2)
    runs = series_of(one, tmp_path, 1.0, 1.1, 1.2)
    base, new = measured_run(runs[1]), measured_run(runs[2])
    assert spread_for([base], [[new]], runs).source is SpreadSource.EARLIER_RUNS
    document = runs[0].read_json(runs[0].results_document)
    if why == "another machine":
        document["environment"]["hostname"] = "bench-2"
    elif why == "not valid":
        document["cases"][0]["validity"]["verdict"] = "invalid"
    else:
        runs = runs[1:]
    first = RunDir(str(tmp_path / named(1)))
    first.write_json(first.results_document, document)
    assert spread_for([base], [[new]], runs) == USUAL
