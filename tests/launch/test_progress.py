from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus
from streamgauge.launch import live_figures
from streamgauge.launch.live_figures import LiveFigures
from streamgauge.launch.progress import RunProgress
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

from .test_live_figures import second


@pytest.fixture
def case() -> Case:
    workload = {"targets": [{"name": "k", "driver": "kafka_confluent"}], "load": {"messages": 90}}
    [case] = list(make_plan(Workload.model_validate(workload), "run").cases)
    return case


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """With what agents wrote beside their events."""
    run = RunDir(str(tmp_path / "run"))
    for kind, messages in (("producer", 7), ("consumer", 5)):
        told = {"case": "001", "kind": kind, "messages": messages, "p99_ms": 3.0}
        run.write_json(run.live(f"{kind}-0"), told)
    return run


def progress(run: RunDir, printed: io.StringIO) -> RunProgress:
    console = Console(file=printed, force_terminal=True, width=120)
    return RunProgress(run, 1, console, is_shown=True)


def test_the_live_view_comes_first_and_files_when_it_stands_still(
    run: RunDir, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    shown = progress(run, io.StringIO()).of(case, figures)
    assert shown._look() == (7, 5, 3.0), "nothing has come yet"
    figures.add([*second(3, 40, {4: 40}), *second(4, 1, {9: 1})])
    assert shown._look() == (41, 41, 4.0)
    monkeypatch.setattr(live_figures, "_STALE_S", -1.0)
    assert shown._look() == (7, 5, 3.0)


def test_a_folder_that_is_elsewhere_has_counts_where_agents_write(run: RunDir, case: Case) -> None:
    printed = io.StringIO()
    whole = progress(RunDir("s3a://bucket/run"), printed)
    whole.look_in(run)
    with whole.of(case) as shown:
        assert shown._look() == (7, 5, 3.0)
        shown.ended(CaseStatus("ok"))
    assert whole.done == 1


def test_a_bar_has_an_end_once_it_is_known_how_long_the_warm_up_was(tmp_path: Path) -> None:
    workload = {
        "targets": [{"name": "k", "driver": "kafka_confluent"}],
        "load": {"messages": 90, "rate": "10/s", "warm_up_messages": "auto"},
    }
    [case] = list(make_plan(Workload.model_validate(workload), "run").cases)
    run = RunDir(str(tmp_path / "run"))
    shown = progress(run, io.StringIO()).of(case)
    told = {"case": "001", "kind": "producer", "messages": 95, "p99_ms": 3.0}
    run.write_json(run.live("producer-0"), told)
    assert (shown._look(), shown._total) == ((95, 0, 3.0), None)
    run.write_json(run.live("producer-0"), {**told, "warm_up": 40})
    shown._look()
    assert shown._total == 130


def test_without_consumers_the_latency_is_that_of_acks_and_named_so(run: RunDir, case: Case) -> None:
    alone = case.model_copy(update={"agents": tuple(task for task in case.agents if task.kind == "producer")})
    assert progress(run, io.StringIO()).of(case)._latency_name == "p99"
    assert progress(run, io.StringIO()).of(alone)._latency_name == "ack p99"
