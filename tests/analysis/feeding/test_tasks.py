from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

import pytest

from streamgauge.analysis.feeding.tasks import ThreadTasks, dealt_out


def test_tasks_are_of_nearly_the_same_size_and_the_longest_comes_first() -> None:
    rows = [10, 30, 20, 20, 40]
    tasks = dealt_out(rows, 3, lambda size: size)

    assert [sum(size for _, size in task) for task in tasks] == [40, 40, 40]
    assert sorted(number for task in tasks for number, _ in task) == [0, 1, 2, 3, 4]
    assert dealt_out([], 3, lambda size: size) == []


def test_threads_do_each_piece_once_beside_each_other() -> None:
    both = threading.Barrier(2, timeout=30)

    def each(tasks: Iterable[list[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
        both.wait()
        yield from (piece for task in tasks for piece in task)

    assert sorted(ThreadTasks(2)(each, ["a", "b", "c", "d"], len)) == [(0, "a"), (1, "b"), (2, "c"), (3, "d")]
    assert ThreadTasks(2)(each, [], len) == []


def test_what_goes_wrong_in_one_piece_is_said_and_others_are_not_begun() -> None:
    begun: list[int] = []

    def each(tasks: Iterable[list[tuple[int, int]]]) -> Iterator[None]:
        for task in tasks:
            begun.extend(piece for _, piece in task)
            raise OSError("no such file")
        yield None

    with pytest.raises(OSError, match="no such file"):
        ThreadTasks(1)(each, [3, 2, 1], lambda piece: piece)
    assert begun[0] == 3
