from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import streamgauge as sg
from streamgauge.core.errors import BadInput
from streamgauge.core.run_tags import tag_run
from tests.comparing.simulated_pairs import simulated
from tests.report.sample_comparison import compared_run

BASE, SLOW = (f"2026010{day}-000000-sim-0001" for day in (1, 2))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("runs")
    tag_run(simulated(folder, 1.0, seed=1, name=BASE), ["main"])
    simulated(folder, 2.0, seed=2, name=SLOW)
    return str(folder)


def test_a_run_is_opened_and_its_figures_are_attributes(out: str) -> None:
    run = sg.open("main", out)
    assert (run.id, run.tags) == (BASE, ["main"])
    assert run.latency.p99 is not None
    assert run.latency.p50 is not None
    assert 0.9 < run.latency.p50 < run.latency.p99
    assert run.case.accounting.received == 4000
    assert sg.open(out=out).id == SLOW
    assert repr(run) == f"<Run {BASE}: ok, integrity ok, valid>"


def test_messages_are_a_table(out: str) -> None:
    messages = sg.open("main", out).messages
    assert messages.num_rows == 4000
    assert {"intended_ns", "received_ns"} <= set(messages.to_pandas().columns)
    with pytest.raises(BadInput, match="has no table 'no'; allowed: messages"):
        sg.open("main", out).table("no")


def test_runs_are_set_side_by_side(out: str) -> None:
    base, slow = sg.open("main", out), sg.open(SLOW, out)
    [metric, *_] = sg.diff(base, [slow]).differences[0].cases[0].metrics
    assert (metric.metric, metric.verdict) == ("p50", "slower")
    with pytest.raises(BadInput, match="at least one other run"):
        sg.diff(base)


def test_several_cases_have_to_be_chosen_from(tmp_path: Path) -> None:
    run = sg.open(simulated(tmp_path, 1.0, 2.0).location)
    with pytest.raises(BadInput, match=r"has 2 cases \(001, 002\)"):
        _ = run.latency
    with pytest.raises(BadInput, match="kind compare has no cases"):
        _ = sg.open(compared_run(tmp_path).location).cases


def test_a_workload_that_is_none_is_refused_as_the_command_does(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="targets"):
        sg.run({"load": {"messages": 9}}, out=str(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("no_session")
def test_a_workload_is_run(tmp_path: Path) -> None:
    target = {"name": "sim", "driver": "simulated", "settings": {"latency": {"median_ms": 3}}}
    content = {"name": "mine", "targets": [target], "load": {"messages": 2000, "rate": 1000}}
    run = sg.run(content, out=str(tmp_path / "runs"), tags=["first"])
    assert run.latency.p50 == pytest.approx(3, rel=0.01)
    assert run.tags == ["first"]
    assert run.messages.num_rows >= 2000


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, streamgauge as sg; dir(sg); print({'pyarrow', 'typer', 'pydantic'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sg.nothing
