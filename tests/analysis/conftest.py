"""One run with every hand-made case."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from . import scenarios
from .recorded import Recorded, Results


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return spark


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The run with all scenarios, written but perhaps not analysed yet."""
    run = Recorded(tmp_path_factory.mktemp("scenarios"))
    for scenario in scenarios.all_cases():
        run.add(scenario)
    run.write()
    return run


@pytest.fixture(scope="package")
def results(recorded: Recorded) -> Results:
    """Its result tables: analysing takes long, so it is done once for all tests."""
    return recorded.analyze()
