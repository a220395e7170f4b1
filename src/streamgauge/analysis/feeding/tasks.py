"""Who does pieces of work: Spark's tasks, or threads of this process.

The pieces are the same either way, and so is what they leave: files in the run folder, and small tables. To
start Spark's processes takes seconds, and they load again what this process has; arrays and Parquet need no
lock of Python's for most of their time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pyspark.sql import SparkSession

from streamgauge.core.other_schemes import other_schemes

_TASKS_A_SLOT = 2

Work = TypeVar("Work")


class Tasks(Protocol):
    """Does all of the work, and returns what comes of it in any order.

    `each` is called with tasks, which are lists of numbered pieces, and yields what comes of them.
    """

    def __call__(
        self, each: Callable[[Any], Any], work: Sequence[Work], weight: Callable[[Work], int]
    ) -> list[Any]: ...


@dataclass(frozen=True)
class SparkTasks:
    session: SparkSession

    def __call__(
        self, each: Callable[[Any], Any], work: Sequence[Work], weight: Callable[[Work], int]
    ) -> list[Any]:
        if not work:
            return []
        context = self.session.sparkContext
        tasks = dealt_out(work, _TASKS_A_SLOT * max(1, context.defaultParallelism), weight)
        known = list(other_schemes)

        def with_all_schemes(own: Iterable[Any]) -> Iterable[Any]:
            # A task gets at run folders as the process does that sent it.
            other_schemes[:] = known
            yield from each(own)

        return list(context.parallelize(tasks, len(tasks)).mapPartitions(with_all_schemes).collect())


@dataclass(frozen=True)
class ThreadTasks:
    threads: int

    @classmethod
    def of_this_machine(cls) -> ThreadTasks:
        return cls(len(os.sched_getaffinity(0)))

    def __call__(
        self, each: Callable[[Any], Any], work: Sequence[Work], weight: Callable[[Work], int]
    ) -> list[Any]:
        pool = ThreadPoolExecutor(self.threads)
        try:
            # A piece at a time: who is interrupted waits for those that have begun.
            pieces = dealt_out(work, len(work), weight)
            doing = [pool.submit(lambda own: list(each([own])), piece) for piece in pieces]
            return [one for done in doing for one in done.result()]
        finally:
            pool.shutdown(cancel_futures=True)


def dealt_out(
    work: Sequence[Work], tasks: int, weight: Callable[[Work], int]
) -> list[list[tuple[int, Work]]]:
    """Numbered pieces in tasks of nearly the same weight each, the heaviest first."""
    dealt: list[list[tuple[int, Work]]] = [[] for _ in range(min(tasks, len(work)))]
    loads = [0] * len(dealt)
    for number, one in sorted(enumerate(work), key=lambda numbered: -weight(numbered[1])):
        least = loads.index(min(loads))
        dealt[least].append((number, one))
        loads[least] += weight(one)
    order = sorted(range(len(dealt)), key=lambda task: -loads[task])
    return [dealt[task] for task in order]
