"""What was imported goes through everything that takes a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffVerdict
from streamgauge.comparing.measured import measured_run
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode, Integrity, Validity
from streamgauge.families.imported.conduct import NotToBeRun, nothing_to_analyse
from streamgauge.families.imported.document import ImportedDocument
from streamgauge.families.imported.writing import write_imported
from streamgauge.importing.formats import read_tool_file
from streamgauge.report.listed_runs import listed
from streamgauge.report.results import results_document, stored_document
from streamgauge.spec.loading import load_workload
from tests.importing import samples
from tests.serve.axe import violations_of


def imported(folder: Path, *texts: str, name: str = "imported") -> RunDir:
    files = []
    for number, text in enumerate(texts):
        file = folder / f"{name} {number}.txt"
        file.write_text(text)
        files.append(read_tool_file(file))
    return write_imported(files, name, str(folder / "runs"))


def test_nothing_that_was_imported_is_green(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.PRODUCER_PERF, samples.OMB, samples.CONSUMER_PERF, samples.KAFKA_PERF)
    document = stored_document(run)
    assert isinstance(document, ImportedDocument)
    assert (document.integrity, document.validity) == (Integrity.NOT_CHECKED, Validity.NOT_MEASURED)
    assert not document.is_good
    for case in document.cases:
        assert not case.is_good
        assert [each.code for each in case.validity.causes] == [CauseCode.OTHER_TOOL]
    assert [case.tool for case in document.cases] == [
        "kafka-producer-perf-test",
        "openmessaging-benchmark",
        "kafka-consumer-perf-test",
        "kafka-perf",
        "kafka-perf",
    ]
    assert document.environment["measured_on"] == "unknown"


def test_the_run_holds_what_was_taken_in_and_a_report(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.OMB)
    assert run.read_text(run.original(1, "imported 0.txt")) == samples.OMB
    page, markdown = run.read_text(run.report_page), run.read_text(run.report_markdown)
    assert "openmessaging-benchmark" in page
    assert "we cannot tell whether its figures may be quoted" in markdown
    assert load_workload(run.local(run.workload)).kind == "imported"


def test_runs_lists_its_figures(tmp_path: Path) -> None:
    row = listed(imported(tmp_path, samples.PRODUCER_PERF))
    assert (row.p50_ms, row.p99_ms, row.target) == ("1.000", "205.0", "kafka-producer-perf-test")
    assert row.verdicts[:2] == ("not_checked", "not_measured")


def test_diff_sets_figures_side_by_side_and_gives_no_verdict(tmp_path: Path) -> None:
    base = imported(tmp_path, samples.PRODUCER_PERF)
    new = imported(tmp_path, samples.PRODUCER_PERF.replace("205 ms", "410 ms"))
    found = diff_document([measured_run(base)], [[measured_run(new)]]).differences[0]
    by_name = {each.metric: each for each in found.cases[0].metrics}
    assert by_name["p99"].ratio == pytest.approx(2.0)
    assert {each.verdict for each in by_name.values()} == {DiffVerdict.NOT_COMPARABLE}
    assert {each.code for each in by_name["p99"].causes} == {CauseCode.OTHER_TOOL}


def test_check_decides_what_can_be_and_says_why_not_of_the_rest(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.LOCUST)
    expect = tmp_path / "expect.yaml"
    expect.write_text("objectives: ['p99<500ms', 'rate>=1/s', 'failed<=2']\n")
    said = CliRunner().invoke(app, ["check", run.location, "--expect", str(expect), "--json"])
    assert said.exit_code == 1
    outcomes = {
        (each["case"], each["outcome"]["metric"]): each["outcome"]["outcome"]
        for each in json.loads(said.stdout)["expected"]
    }
    assert outcomes["case 001", "p99"] == "not_decidable"
    assert outcomes["case 001", "rate"] == "met"
    assert outcomes["case 001", "failed"] == "missed"


def test_a_figure_that_the_tool_did_not_give_is_not_made_up(tmp_path: Path) -> None:
    document = results_document(imported(tmp_path, samples.CONSUMER_PERF))
    assert isinstance(document, ImportedDocument)
    assert document.cases[0].main_latency is None
    assert document.glances[0].p99_ms is None


def test_it_can_be_neither_run_nor_analysed(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.PRODUCER_PERF)
    with pytest.raises(BadInput, match="cannot be run"):
        NotToBeRun().check(load_workload(run.local(run.workload)))
    with pytest.raises(BadInput, match="no events to analyse"):
        nothing_to_analyse(None, run, None)


def test_the_command_says_where_the_run_is_and_leaves_none_of_a_bad_file(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(samples.END_TO_END)
    bad.write_text("hello")
    out = tmp_path / "runs"
    said = CliRunner().invoke(app, ["import", str(good), str(bad), "--out", str(out)])
    assert isinstance(said.exception, BadInput)
    assert not out.exists()
    said = CliRunner().invoke(app, ["import", str(good), "--out", str(out), "--tag", "theirs"])
    assert said.exit_code == 0, said.output
    assert "kafka-e2e-latency" in said.output
    assert listed(next(RunDir.open(str(path)) for path in out.iterdir())).tags == ["theirs"]


def test_plot_draws_what_the_tools_said_over_any_setting_that_they_tell_of(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.KNET)
    said = CliRunner().invoke(
        app, ["plot", run.location, "--x", "messages", "--out", str(tmp_path / "plots")]
    )
    assert said.exit_code == 0, said.output
    data = (tmp_path / "plots" / "messages.dat").read_text()
    assert "library KNET · operation produce" in data
    assert '0 "10" 2 3 4 ' in data, "least, mean and most of its repetitions, in ms"
    page = (tmp_path / "plots" / "messages.html").read_text()
    assert "Whether its figures may be quoted is not known" in page
    assert "intended" not in page.partition("<body")[2].partition("<script")[0]


def test_what_a_tool_does_not_tell_is_not_plotted(tmp_path: Path) -> None:
    document = results_document(imported(tmp_path, samples.PRODUCER_PERF, samples.CONSUMER_PERF))
    producer, consumer = document.plotted
    assert (producer.min_ms, producer.mean_ms, producer.max_ms) == (None, 6.74, 410.0)
    assert (consumer.mean_ms, consumer.other_leg) == (None, "no latency")


@pytest.mark.browser
def test_nothing_in_its_report_keeps_anybody_out(tmp_path: Path) -> None:
    run = imported(tmp_path, samples.PRODUCER_PERF, samples.OMB, samples.CONSUMER_PERF, samples.KAFKA_PERF)
    assert violations_of(run.read_text(run.report_page), tmp_path) == []
