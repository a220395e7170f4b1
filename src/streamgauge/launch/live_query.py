"""The live query: Structured Streaming over the metrics topic, added up over all agents in Spark.

Every micro-batch is added up by itself, and the sums of batches are added here (launch/live_figures). A state
kept by Spark would need a disk that all hosts share, and would drop what comes late.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.streaming.query import StreamingQuery

from streamgauge.core.clock import NS_PER_S
from streamgauge.core.errors import StreamgaugeError
from streamgauge.core.guardian import temporary_folder
from streamgauge.drivers.kafka.metrics import metrics_topic
from streamgauge.launch.live_figures import MESSAGES, MISSED, LiveRow
from streamgauge.launch.spark_session import first_line

_EVERY = "2 seconds"
_STOP_DEADLINE_S = 10.0
_HELLO = "hello"
_MESSAGE = (
    "run string, case string, agent string, kind string, second int, messages bigint, missed bigint, "
    "buckets array<array<bigint>>"
)


class LiveQuery:
    """One query; what it finds goes to `take`, in a thread of py4j's."""

    def __init__(
        self,
        session: SparkSession,
        bootstrap: str,
        run: str,
        first_offset: int,
        take: Callable[[list[LiveRow]], None],
    ) -> None:
        self._session, self._run, self._take = session, run, take
        self._seen = threading.Event()
        # Only the driver writes here: which offsets it has read.
        self._notes = Path(tempfile.mkdtemp(prefix="streamgauge-live-", dir=temporary_folder()))
        source = session.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
        topic = metrics_topic(run)
        offsets = json.dumps({topic: {"0": first_offset}})
        source = source.option("subscribe", topic).option("startingOffsets", offsets)
        try:
            sink = source.option("failOnDataLoss", "false").load().writeStream.foreachBatch(self._add_up)
            sink = sink.option("checkpointLocation", self._notes.as_uri())
            self._query: StreamingQuery = sink.trigger(processingTime=_EVERY).start()
        except (PySparkException, Py4JError) as error:
            shutil.rmtree(self._notes, ignore_errors=True)
            raise StreamgaugeError(f"Spark cannot read the topic: {first_line(error)}") from error

    def wait_seen(self, deadline_s: float) -> None:
        """Until a message has come through Spark; else StreamgaugeError says why not."""
        waited_s, look_s = 0.0, 0.2
        while not self._seen.wait(look_s):
            waited_s += look_s
            if (failure := self.failure()) is not None:
                raise StreamgaugeError(failure)
            if waited_s >= deadline_s:
                raise StreamgaugeError(f"Spark has read nothing from the topic within {deadline_s:g} s")

    def failure(self) -> str | None:
        """Why it has ended; None while it runs."""
        try:
            if self._query.isActive:
                return None
            error = self._query.exception()
        except (PySparkException, Py4JError, OSError) as broken:
            error = broken  # type: ignore[assignment]
        return "Spark's query has ended" if error is None else f"Spark's query failed: {first_line(error)}"

    def stop(self) -> None:
        """Soon, or it is left to the end of its session."""

        def stop() -> None:
            try:
                self._query.stop()
            except (PySparkException, Py4JError, OSError):
                return  # it has ended, by itself or with its session

        stopping = threading.Thread(target=stop, name="live-stop", daemon=True)
        stopping.start()
        stopping.join(_STOP_DEADLINE_S)
        shutil.rmtree(self._notes, ignore_errors=True)

    def _add_up(self, batch: DataFrame, number: int) -> None:
        sums = sums_of(batch, self._run).collect()
        self._seen.set()
        self._take([LiveRow(**row.asDict()) for row in sums])


def hello(run: str) -> bytes:
    """A message that shows that the way is open, and counts for nothing."""
    return json.dumps({"run": run, "case": _HELLO, "kind": _HELLO, "second": 0, "messages": 0}).encode()


def sums_of(records: DataFrame, run: str) -> DataFrame:
    """One row: agents of a kind in a second of a case, a bucket, and how many of all agents are in it."""
    content = fn.from_json(fn.col("value").cast("string"), _MESSAGE).alias("told")
    # One partition, as the topic has: there is nothing to shuffle.
    told = records.coalesce(1).select(content).select("told.*").where(fn.col("run") == run)
    counts = [
        fn.array(fn.lit(place), fn.col(name)) for place, name in ((MESSAGES, "messages"), (MISSED, "missed"))
    ]
    pairs = fn.concat(fn.array(*counts), fn.coalesce("buckets", fn.array().cast("array<array<bigint>>")))
    each = told.select("case", "kind", "second", fn.explode(pairs).alias("pair"))
    bucketed = each.groupBy("case", "kind", "second", fn.col("pair")[0].alias("bucket_ns"))
    return bucketed.agg(fn.coalesce(fn.sum(fn.col("pair")[1]), fn.lit(0)).alias("count"))


class SparkCpu:
    """CPU that Spark has used: the driver's process, and tasks that ran elsewhere."""

    def __init__(self, session: SparkSession, is_local: bool) -> None:
        self._context: Any = session.sparkContext
        self._is_local = is_local
        gateway: Any = self._context._gateway
        self._driver = psutil.Process(gateway.proc.pid)
        self._lock = threading.Lock()
        self._last_stage = -1
        self._tasks_s = 0.0

    def seconds(self) -> float:
        try:
            times = self._driver.cpu_times()
        except psutil.Error:
            return 0.0
        with self._lock:
            if not self._is_local:
                self._add_tasks()
            return times.user + times.system + self._tasks_s

    def _add_tasks(self) -> None:
        """Stages that have ended since; Spark keeps a thousand, so it has to be asked in time."""
        try:
            gateway = self._context._gateway
            any_status = gateway.jvm.java.util.ArrayList()
            no_quantiles = gateway.new_array(gateway.jvm.double, 0)
            store = self._context._jsc.sc().statusStore()
            stages = store.stageList(any_status, False, False, no_quantiles, any_status)
            newest = self._last_stage
            for place in range(stages.size()):
                stage = stages.apply(place)
                number = stage.stageId()
                if number <= self._last_stage:
                    break  # newest first
                if str(stage.status()) == "COMPLETE":
                    self._tasks_s += stage.executorCpuTime() / NS_PER_S
                    newest = max(newest, number)
            self._last_stage = newest
        except (Py4JError, OSError):
            return  # the display of a cost is not worth failing for
