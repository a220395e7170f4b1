"""What a calibration notes of its runs: of a stored run of messages, and of points of clients made up."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.analysis.result_rows import write_rows
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.family_tables import result_tables_of
from streamgauge.report.result_tables import ResultTables
from streamgauge.sizing.observing import measured_clients, measured_messages
from streamgauge.tables.results import CPU
from tests.golden import stored


def test_every_case_of_messages_is_told_with_what_it_took(tmp_path: Path) -> None:
    run = stored.copy_of("e2e_kafka", tmp_path)
    analyze_with(lambda: pytest.fail("so few messages need no Spark"), run)
    [found] = measured_messages(run)
    cpu = {row["kind"]: row["cpu_us_per_message"] for row in ResultTables.read(run).rows(CPU, "001")}
    rate = found.load.rate_per_s
    assert rate > 0
    assert found.took["producer_cores"] == pytest.approx(cpu["producer"] * rate / 1e6)
    assert found.took["broker_cores"] == pytest.approx(cpu["broker"] * rate / 1e6)
    assert found.took["events_bytes_per_s"] > rate
    assert (found.load.replicas, found.load.brokers) == (1, 1)


def test_points_that_held_are_told(tmp_path: Path) -> None:
    run = stored.copy_of("fanout", tmp_path)
    [points] = [table for table in result_tables_of("fanout") if table.name == "points"]
    schema = points.arrow_schema()
    numbers = {field.name: 1 for field in schema if field.type in (pa.int64(), pa.float64())}
    words = {field.name: "x" for field in schema if field.type == pa.string()}
    row = {**numbers, **words, "scenario": "2", "clients": 500, "gateway_cpu_cores": 0.25, "holds": True}
    row |= {"to_clients_bits_per_s": 800.0, "from_clients_bits_per_s": 80.0}
    broken = row | {"case": "002", "holds": False, "clients": 900}
    rows = [row | {"case": "003", "clients": 700}, row | {"case": "001"}, broken]
    write_rows(RunDir(run.location), points, pa.Table.from_pylist(rows, schema=schema))
    found, later = measured_clients(run)
    assert (found.load.clients, found.load.scenario, found.load.peak_clients) == (500, "2", None)
    assert (later.load.clients, later.load.peak_clients) == (700, 900)
    assert found.took["gateway_cores"] == 0.25
    assert found.took["network_bytes_per_s"] == 110.0
