"""One Spark session, ended before other folders start theirs, and one run with every hand-made case."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from . import scenarios
from .recorded import Recorded, Results


@pytest.fixture(scope="package")
def session() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName("streamgauge-tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The run with all scenarios, written but perhaps not analysed yet."""
    run = Recorded(tmp_path_factory.mktemp("scenarios"))
    for scenario in scenarios.all_cases():
        run.add(scenario)
    run.write()
    return run


@pytest.fixture(scope="package")
def results(session: SparkSession, recorded: Recorded) -> Results:
    """Its result tables: analysing takes long, so it is done once for all tests."""
    return recorded.analyze(session)
