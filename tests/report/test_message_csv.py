"""Every message with its times, as CSV, from stored runs."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.run_dir import RunDir
from streamgauge.report.message_csv import write_messages
from streamgauge.report.results import results_document
from streamgauge.tables.results import MESSAGES
from tests.golden import stored


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """Small cases of all kinds, one of them without acks."""
    copied = stored.copy_of("e2e_scenarios", tmp_path_factory.mktemp("messages"))
    analyze_with(_no_spark, copied)
    return copied


def test_a_row_a_message_with_its_four_times(run: RunDir) -> None:
    rows = written(run)
    document = results_document(run).model_dump()
    assert list(rows[0]) == MESSAGES.column_names
    for case in document["cases"]:
        own = [row for row in rows if row["case"] == case["case"] and row["phase"] == "measure"]
        assert len(own) == case["accounting"]["sent"]
        assert sum(int(row["received_count"]) > 0 for row in own) == case["accounting"]["received"]
        assert sum(bool(row["acked_ns"]) and not row["error"] for row in own) == case["accounting"]["acked"]
    first = rows[0]
    assert int(first["intended_ns"]) <= int(first["sent_ns"]) < int(first["received_ns"])


def test_without_acks_nothing_is_said_to_be_published(run: RunDir) -> None:
    document = results_document(run).model_dump()
    [silent] = [case["case"] for case in document["cases"] if case["parameters"]["acks"] == "0"]
    rows = [row for row in written(run) if row["case"] == silent]
    assert rows
    assert not any(row["acked_ns"] for row in rows)
    assert any(row["acked_ns"] for row in written(run))


def test_a_run_that_was_not_analysed_says_what_to_do(run: RunDir, tmp_path: Path) -> None:
    shutil.copytree(run.local(), tmp_path / "raw", ignore=shutil.ignore_patterns("results"))
    raw = RunDir.open(str(tmp_path / "raw"))
    with pytest.raises(CorruptRun, match="analy"):
        written(raw)


def test_a_family_without_messages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no table of messages"):
        written(stored.copy_of("compare", tmp_path))


def written(run: RunDir) -> list[dict[str, str]]:
    stream = io.BytesIO()
    row_count = write_messages(run, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue().decode())))
    assert len(rows) == row_count
    return rows


def _no_spark() -> SparkSession:
    raise AssertionError("so few messages need no Spark")
