from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from typer.testing import CliRunner

from streamgauge.cli.commands import app
from streamgauge.cli.export import ExportFormat
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.exporting.files import FORMATS, exported_files
from streamgauge.importing.formats import read_tool_file
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.result_tables import read_result
from streamgauge.report.results import results_document
from streamgauge.tables.results import MESSAGES
from tests.comparing.simulated_pairs import simulated
from tests.exporting.exported_run import finished_run
from tests.report.sample_comparison import compared_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return finished_run(tmp_path_factory.mktemp("export"))


@pytest.fixture(scope="module")
def document(run: RunDir) -> CasesDocument:
    found = results_document(run)
    assert isinstance(found, CasesDocument)
    return found


def files(run: RunDir, form: str) -> dict[str, bytes]:
    return {name: content() for name, content in exported_files(run, form)}


def test_every_message_is_in_the_parquet_files(run: RunDir) -> None:
    found = files(run, "parquet")
    assert pq.read_table(pa.BufferReader(found["messages.parquet"])).num_rows == 4000
    assert pq.read_table(pa.BufferReader(found["latency.parquet"])).num_rows > 0


def test_csv_has_a_row_a_case_and_a_row_a_message(run: RunDir, document: CasesDocument) -> None:
    found = files(run, "csv")
    [case] = csv.DictReader(io.StringIO(found["results.csv"].decode()))
    assert float(case["latency_ms.intended_to_received.p99"]) == document.cases[0].main_latency.p99
    assert found["messages.csv"].count(b"\n") == 4001


def test_metrics_have_every_figure_to_the_last_digit(run: RunDir, document: CasesDocument) -> None:
    text = files(run, "openmetrics")["metrics.txt"].decode()
    assert text.endswith("# EOF\n")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    values = {line.partition("{")[0]: float(line.rpartition(" ")[2]) for line in lines}
    assert values["streamgauge_latency_ms_intended_to_received_p99"] == document.cases[0].main_latency.p99
    assert values["streamgauge_accounting_received"] == 4000
    assert 'streamgauge_integrity{run="20260101-000000-sim-0001",workload="' in text
    declared = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(declared) == len(set(declared))
    assert len(lines) == len({line.rpartition(" ")[0] for line in lines}), "a series came twice"


def test_labels_cannot_break_out_of_their_quotes(run: RunDir, document: CasesDocument) -> None:
    from streamgauge.exporting.openmetrics import openmetrics_text

    hostile = document.model_copy(update={"name": 'a"} 1\n# EOF\nb\\'})
    line = next(
        line for line in openmetrics_text(hostile).splitlines() if line.startswith("streamgauge_run_ok")
    )
    assert r'workload="a\"} 1\n# EOF\nb\\"' in line


def test_histograms_are_read_by_the_usual_library(run: RunDir, tmp_path: Path) -> None:
    found = files(run, "hdr")
    log = tmp_path / "a.hlog"
    log.write_bytes(found["001-intended_to_received.hlog"])
    reader = HistogramLogReader(str(log), HdrHistogram(1, 3_600_000_000_000, 3))
    assert reader.get_next_interval_histogram().get_total_count() == 4000
    reader.close()
    assert "001-sent_to_acked.hgrm" in found


def test_what_is_exported_as_omb_comes_back_the_same(
    run: RunDir, document: CasesDocument, tmp_path: Path
) -> None:
    [(name, content)] = files(run, "omb").items()
    file = tmp_path / name
    file.write_bytes(content)
    [case] = read_tool_file(file).cases
    latency, ours = case.latencies[0], document.cases[0].main_latency
    assert latency.leg == "publish → receipt"
    assert latency.mean == pytest.approx(ours.mean)
    assert latency.percentiles["p99"] == pytest.approx(ours.p99, rel=1e-3)
    assert latency.max == pytest.approx(ours.max)
    assert case.failed_count == 0
    assert case.rate_per_s == pytest.approx(800)
    [p99_ms] = [each.p99_ms for each in case.intervals]
    assert p99_ms == pytest.approx(ours.p99, rel=0.05), "of all but the last second, which is a part of one"
    assert [each.max_ms for each in case.intervals] == [pytest.approx(max(_seconds_max(document)[:-1]))]


def _seconds_max(document: CasesDocument) -> list[float]:
    found = (second.latency_ms.intended_to_received.max for second in document.cases[0].seconds)
    return [each for each in found if each is not None]


def test_the_rates_of_an_omb_result_are_of_the_measured_phase_and_its_clients_of_a_topic(
    tmp_path: Path,
) -> None:
    load: dict[str, Any] = {
        "messages": 2850,
        "rate": 100,
        "warm_up_messages": 1530,
        "producers": 4,
        "topics": {"count": 2},
    }
    warmed = simulated(tmp_path, 2.0, **load)
    [(name, content)] = files(warmed, "omb").items()
    (tmp_path / name).write_bytes(content)
    [case] = read_tool_file(tmp_path / name).cases
    assert [each.rate_per_s for each in case.intervals] == [pytest.approx(100)] * 3
    assert case.rate_per_s == pytest.approx(100)
    told = json.loads(content)
    rows = read_result(warmed, MESSAGES)
    for name, begin, end in (
        ("endToEndLatency", "intended", "received"),
        ("publishLatency", "sent", "acked"),
    ):
        taken = (rows[f"{end}_ns"].to_numpy() - rows[f"{begin}_ns"].to_numpy()) / 1e6
        for window, low in enumerate((16, 26, 36)):
            seconds = rows["second"].to_numpy()
            mine = taken[(seconds >= low) & (seconds < min(low + 10, 43))]
            for digits, percent in (("50", 50), ("95", 95), ("99", 99), ("999", 99.9)):
                expected = pytest.approx(np.percentile(mine, percent), rel=1e-3)
                assert told[f"{name}{digits}pct"][window] == expected, (name, digits, window)
    assert max(told["publishDelayLatency99pct"]) <= max(told["publishDelayLatencyMax"])
    assert case.settings["topics"] == 2
    assert case.settings["producers_per_topic"] == 2
    assert "consumers_per_topic" not in case.settings, "one consumer of two topics is no whole number each"


def test_a_family_without_messages_says_what_it_has_not(tmp_path: Path) -> None:
    compared = compared_run(tmp_path)
    for form in ("hdr", "omb"):
        with pytest.raises(BadInput, match="kind compare has no cases of messages"):
            files(compared, form)
    assert "comparisons.parquet" in files(compared, "parquet")
    assert "streamgauge_run_ok" in files(compared, "openmetrics")["metrics.txt"].decode()


def test_the_command_offers_every_format_and_says_where_it_wrote(run: RunDir, tmp_path: Path) -> None:
    assert [each.value for each in ExportFormat] == list(FORMATS)
    said = CliRunner().invoke(app, ["export", run.location, "--to", "hdr"])
    assert said.exit_code == 0, said.output
    assert all(Path(line).is_file() for line in said.stdout.splitlines())
    said = CliRunner().invoke(app, ["export", run.location, "--to", "omb", "--dir", str(tmp_path / "there")])
    assert [Path(line).parent for line in said.stdout.splitlines()] == [tmp_path / "there"]
