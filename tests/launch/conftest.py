from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from streamgauge.launch.spark_session import spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with spark_session("local[4]", slots_needed=4, log=tmp_path_factory.mktemp("spark") / "log") as session:
        yield session
