from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from streamgauge.gateway.server import turns
from streamgauge.gateway.server.turns import Turns

MS = 1_000_000
T = TypeVar("T")


class Clock:
    now_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(turns, "time", clock)
    return clock


def on_a_loop(act: Callable[[], None], seen: Callable[[], T]) -> T:
    """What is seen one turn of the loop later."""

    async def run() -> T:
        act()
        await asyncio.sleep(0)
        return seen()

    return asyncio.run(run())


def test_all_share_a_slice_and_addresses_go_on_one_after_another(clock: Clock) -> None:
    taken, done = Turns(0.002), list[str]()

    def work(name: str) -> None:
        done.append(name)
        taken.spent(MS)

    def begin() -> None:
        for n in range(5):
            taken.wait("greedy", lambda n=n: work(f"greedy {n}"))  # type: ignore[misc]
        taken.wait("modest", lambda: work("modest"))

    assert on_a_loop(begin, lambda: (list(done), len(taken))) == (["greedy 0", "modest", "greedy 1"], 3)


def test_what_is_over_begins_again_with_the_next_turn_of_the_loop(clock: Clock) -> None:
    taken, seen = Turns(0.002), list[bool]()

    def begin() -> None:
        seen.append(taken.are_over(clock.now_ns))
        taken.spent(2 * MS)
        clock.now_ns += 1
        seen.append(taken.are_over(clock.now_ns - 1))
        asyncio.get_running_loop().call_soon(lambda: seen.append(taken.are_over(clock.now_ns)))

    assert on_a_loop(begin, lambda: seen) == [False, True, False]


def test_steps_are_carried_out_a_slice_at_a_time(clock: Clock) -> None:
    taken, done, after_turn = Turns(0.002), list[int](), list[int]()

    def steps() -> Iterator[None]:
        for n in range(7):
            clock.now_ns += MS
            done.append(n)
            yield

    async def run() -> None:
        taken.carry_out("", steps())
        while len(done) < 7:
            after_turn.append(len(done))
            await asyncio.sleep(0)

    asyncio.run(run())
    assert after_turn[0] == 3
    assert all(later - sooner <= 3 for sooner, later in itertools.pairwise(after_turn))


def test_who_breaks_down_does_not_hold_up_the_others() -> None:
    taken, done, told = Turns(0.002), list[str](), list[object]()

    def breaks() -> None:
        raise RuntimeError("a bug")

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what["exception"]))
        taken.wait("a", breaks)
        taken.wait("b", lambda: done.append("b"))
        async with asyncio.timeout(10):
            while not done:
                await asyncio.sleep(0)

    asyncio.run(run())
    assert done == ["b"]
    assert [str(each) for each in told] == ["a bug"]
