"""The Spark of a process of tests: one Java for all of them, and in it one session after another.

To start Spark's Java takes more CPU than what most tests have it compute. So it stays when a session ends,
as it does in any process that has two runs, and a run in this process (`run_here`) finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamgauge.launch.spark_session import _SETTINGS, spark_session


class SharedSpark:
    """A session for tests that compute in this process; it makes way for a run, which has its own."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._session: SparkSession | None = None
        self._is_used = False

    @contextmanager
    def in_use(self, log: Path) -> Iterator[SparkSession]:
        """The session that is there, or another; Java's output goes to `log`."""
        self._is_used = True
        try:
            yield self._started(log)
        finally:
            self._is_used = False

    def make_way(self, log: Path) -> None:
        """For a run: no session, but a Java, whose output does not go to that run's folder."""
        assert not self._is_used, "a file of tests has the fixture spark, or runs here, but not both"
        if not _has_java():
            self._started(log)
        self.end()

    def end(self) -> None:
        self._session = None
        self._held.close()

    def _started(self, log: Path) -> SparkSession:
        if not self._is_alive():
            self.end()
            with ExitStack() as stack:
                patch = stack.enter_context(pytest.MonkeyPatch.context())
                # No agents are run on it: a Python process that has loaded everything may take the next task.
                patch.setitem(_SETTINGS, "spark.python.worker.reuse", "true")
                # As many as it has slots: more parts of next to nothing are more of the overhead only.
                patch.setitem(_SETTINGS, "spark.sql.shuffle.partitions", "2")
                self._session = stack.enter_context(spark_session("local[2]", log=log, is_light=True))
                self._held = stack.pop_all()
        assert self._session is not None
        return self._session

    def _is_alive(self) -> bool:
        """Whoever else asks for a session in this process is given this one, and ends it."""
        if self._session is None or not _has_java():
            return False
        context: Any = self._session.sparkContext
        return context._jsc is not None


def _has_java() -> bool:
    """One that is alive; PySpark would go on asking one that was killed."""
    context: Any = SparkContext
    if context._gateway is not None and context._gateway.proc.poll() is not None:
        context._gateway = context._jvm = None
    return context._gateway is not None


shared_spark = SharedSpark()
