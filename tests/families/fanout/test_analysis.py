"""A whole fan-out, analysed here and by Spark: every table is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.families.fanout import analysis
from streamgauge.families.fanout.result_tables import FANOUT_TABLES
from tests.golden import stored


def tables_of(spark: Callable[[], SparkSession], place: Path) -> dict[str, list[dict[str, Any]]]:
    run = stored.copy_of("fanout", place)
    analyze_with(spark, run)
    return {
        table.name: pq.read_table(run.local(run.result(table.name))).to_pylist() for table in FANOUT_TABLES
    }


@pytest.mark.spark
def test_so_many_updates_that_spark_helps_give_the_same_tables(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tables_of(lambda: pytest.fail("Spark was asked for"), tmp_path / "here")
    asked = []

    def session() -> SparkSession:
        asked.append(spark.conf.get("spark.sql.shuffle.partitions"))
        return spark

    monkeypatch.setattr(analysis, "is_done_here", lambda rows: rows < 100)
    there = tables_of(session, tmp_path / "there")
    assert len(asked) == 1
    for name, rows in here.items():
        assert rows, name
        assert [
            {key: pytest.approx(value) if isinstance(value, float) else value for key, value in row.items()}
            for row in rows
        ] == there[name], name
