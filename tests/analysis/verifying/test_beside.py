from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from streamgauge.analysis.verifying.beside import beside, one_ahead

MANY, FEW = 10**9, 10


@pytest.mark.parametrize("rows", [FEW, MANY])
def test_all_is_done_when_the_block_is_left(rows: int) -> None:
    done: list[int] = []
    with beside(map(done.append, range(100)), rows):
        pass
    assert done == list(range(100))


def test_both_go_on_at_the_same_time() -> None:
    begun, seen = threading.Event(), threading.Event()

    def steps() -> Iterator[None]:
        begun.set()
        assert seen.wait(20)
        yield

    with beside(steps(), MANY):
        assert begun.wait(20)
        seen.set()


@pytest.mark.parametrize("rows", [FEW, MANY])
def test_an_error_of_either_is_the_error(rows: int) -> None:
    def fails() -> Iterator[int]:
        yield 1
        raise ValueError("of a step")

    with pytest.raises(ValueError, match="of a step"), beside(fails(), rows):
        pass
    with pytest.raises(KeyError, match="block"), beside(iter([]), rows):
        raise KeyError("block")


def test_who_gives_up_waits_for_one_step_only() -> None:
    going = threading.Event()
    done: list[int] = []

    def steps() -> Iterator[None]:
        for number in range(10**9):
            done.append(number)
            going.set()
            yield

    def interrupted() -> None:
        with beside(steps(), MANY):
            assert going.wait(20)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(done) < 10**9


def test_parts_come_in_their_order_and_one_is_made_while_another_is_looked_at() -> None:
    made: list[int] = []
    next_is_made = threading.Event()

    def parts() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            if number == 1:
                next_is_made.set()
            yield number

    seen = []
    for part in one_ahead(parts()):
        assert next_is_made.wait(20)
        seen.append(part)
    assert seen == made == [0, 1, 2, 3, 4]
    assert list(one_ahead([])) == []


def test_what_fails_while_it_is_made_fails_where_it_is_looked_at() -> None:
    def parts() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(one_ahead(parts()))
