from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import streamgauge as sg
from streamgauge.core.errors import BadInput, NotInstalled
from streamgauge.core.run_tags import tag_run
from streamgauge.report.write import write_report
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


def test_rows_go_to_whoever_wants_them(out: str) -> None:
    messages = sg.open("main", out).messages
    assert (len(messages), repr(messages)) == (4000, "<Rows messages: 4000 × 19>")
    assert messages.to_arrow().num_rows == pa.table(messages).num_rows == 4000
    assert messages.column("case")[0].as_py() == "001"
    assert "intended_ns" in messages._repr_html_()
    with pytest.raises(AttributeError):
        _ = messages._nothing


def test_polars_is_asked_for_only_where_it_is_wanted(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = sg.open("main", out).messages
    made = types.SimpleNamespace(from_arrow=lambda table: ("polars", table.num_rows))
    monkeypatch.setitem(sys.modules, "polars", made)
    assert messages.to_polars() == ("polars", 4000)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(NotInstalled, match="pip install polars"):
        messages.to_polars()


@pytest.mark.spark
def test_spark_reads_the_files_itself(out: str, spark: SparkSession) -> None:
    frame = sg.open("main", out).messages.to_spark(spark)
    assert frame.count() == 4000
    assert frame.columns[:2] == ["case", "phase"]


def test_a_notebook_shows_a_run_and_a_difference_and_nothing_of_it_is_markup(out: str) -> None:
    run = sg.open("main", out)
    write_report(run.folder)
    page = run._repr_html_()
    assert "Integrity: all accounted for" in page
    assert "99% of the messages through sim-0 arrive within" in page, "the answer comes first"
    run.document.name = "<script>alert(1)</script>"
    assert "<script" not in run._repr_html_()
    found = sg.diff(run, sg.open(SLOW, out))
    assert "slower" in found._repr_html_()  # type: ignore[attr-defined]


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
