"""Work beside other work, on a core that has nothing to do: arrays and Parquet need no lock of Python's for
most of their time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

_WORTH_A_THREAD = 200_000
"""Rows; a run may have thousands of cases with fewer."""

Part = TypeVar("Part")


@contextmanager
def beside(steps: Iterable[object], rows: int) -> Iterator[None]:
    """All steps are done when the block is left; where it ends with an error, the rest of them are not.
    `rows`: for fewer than are worth a thread they are done first."""
    if rows < _WORTH_A_THREAD:
        for _ in steps:
            pass
        yield
        return
    is_given_up = Event()

    def go_through() -> None:
        for _ in steps:
            if is_given_up.is_set():
                return

    with ThreadPoolExecutor(1, "beside") as pool:
        going = pool.submit(go_through)
        try:
            yield
        except BaseException:
            is_given_up.set()
            raise
        going.result()


def one_ahead(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts; while one is looked at, the next is made."""
    nothing = object()
    left = iter(parts)
    with ThreadPoolExecutor(1, "ahead") as pool:
        coming = pool.submit(next, left, nothing)
        while (part := coming.result()) is not nothing:
            coming = pool.submit(next, left, nothing)
            yield part  # type: ignore[misc]
