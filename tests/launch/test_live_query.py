from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamgauge.launch.live_figures import MESSAGES, MISSED
from streamgauge.launch.live_query import SparkCpu, hello, sums_of

pytestmark = pytest.mark.spark


def told(agent: str, second: int, messages: int, buckets: list[list[int]], **rest: Any) -> bytes:
    about = {"run": "r1", "case": "001", "agent": agent, "kind": agent.partition("-")[0], "missed": 1}
    content = {**about, "second": second, "messages": messages, "buckets": buckets, **rest}
    return json.dumps(content).encode()


def test_agents_are_added_up_by_second_and_bucket(spark: SparkSession) -> None:
    values = [
        told("consumer-0", 0, 3, [[5, 2], [9, 1]]),
        told("consumer-1", 0, 4, [[5, 4]]),
        told("consumer-0", 1, 1, [[7, 1]]),
        told("producer-0", 0, 7, []),
        told("consumer-0", 0, 99, [[5, 99]], run="another run"),
        hello("r1"),
        b"not JSON",
    ]
    records = spark.createDataFrame([(value,) for value in values], "value binary")
    rows = {tuple(row)[:4]: row["count"] for row in sums_of(records, "r1").collect()}
    assert rows == {
        ("001", "consumer", 0, MESSAGES): 7,
        ("001", "consumer", 0, MISSED): 2,
        ("001", "consumer", 0, 5): 6,
        ("001", "consumer", 0, 9): 1,
        ("001", "consumer", 1, MESSAGES): 1,
        ("001", "consumer", 1, MISSED): 1,
        ("001", "consumer", 1, 7): 1,
        ("001", "producer", 0, MESSAGES): 7,
        ("001", "producer", 0, MISSED): 1,
        ("hello", "hello", 0, MESSAGES): 0,
        ("hello", "hello", 0, MISSED): 0,
    }


def test_the_cpu_of_tasks_that_run_elsewhere_counts_too(spark: SparkSession) -> None:
    driver_only, with_tasks = SparkCpu(spark, is_local=True), SparkCpu(spark, is_local=False)
    with_tasks.seconds()
    spark.range(0, 3_000_000, 1, 2).selectExpr("sum(hash(id))").collect()
    before = with_tasks._tasks_s
    assert with_tasks.seconds() > driver_only.seconds() - 1
    assert with_tasks._tasks_s > before
    after = with_tasks._tasks_s
    with_tasks.seconds()
    assert with_tasks._tasks_s == after, "a stage counts once"
