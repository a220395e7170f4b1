from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamgauge.core.clock import NS_PER_S
from streamgauge.drivers.registry import open_driver
from streamgauge.families.compare import turn_taking
from streamgauge.families.compare.block_rest import BLOCK_MESSAGES, BlockRest
from streamgauge.families.compare.client_settings import settings_rows
from streamgauge.families.compare.event_tables import CLIENT_SETTINGS, TRIALS
from streamgauge.families.compare.planned_comparison import PlannedComparison
from streamgauge.families.compare.turn_taking import TurnTaking, as_compared
from streamgauge.plan.cases import as_work
from streamgauge.plan.plan_file import make_plan
from streamgauge.plan.warm_up_file import PartWarmUp, WarmUpEnding
from streamgauge.spec.workload import Workload

from .memory_library import MemoryDriver


def planned_of(a: dict[str, Any], b: dict[str, Any] | None = None, **comparison: Any) -> PlannedComparison:
    targets = [{"name": "one", **a}, {"name": "two", **(b or a)}]
    content = {"targets": targets, "comparison": {"lengths": [10], "messages": [20], **comparison}}
    planned = make_plan(Workload.model_validate(content), "run").cases[0].work
    return as_work(planned, PlannedComparison)


class Arena:
    """One simulated library, without a process around it."""

    def __init__(self, folder: Path, settings: dict[str, Any] | None = None, **comparison: Any) -> None:
        laws = {"seed": 4, "read_ns": 100, "connect_ms": 3, **(settings or {})}
        self.planned = planned_of({"driver": "simulated", "settings": laws}, **comparison)
        endpoints = {"folder": str(folder), "partitions": "1"}
        self.driver = open_driver(self.planned.a, endpoints)
        self.turn_taking = TurnTaking("a", self.planned, endpoints, {"NAME": "hunter2"}, seed=5)

    def turn(self, number: int = 0) -> list[dict[str, Any]]:
        turns = list(self.planned.rounds(self.planned.cells[0]))[number]
        [turn] = [turn for turn in turns if turn.side == "a"]
        names = tuple(turn.topics.values())
        self.driver.prepare_topics(self.planned.comparison.topics, names)
        return self.turn_taking.take_turn(turn, {name: {(0, 0): 0} for name in names})


def test_a_turn_has_a_row_for_each_operation_cold_and_warm(tmp_path: Path) -> None:
    rows = Arena(tmp_path).turn(2)
    assert [(row["temperature"], row["operation"]) for row in rows] == [
        ("cold", "produce"),
        ("cold", "consume"),
        ("warm", "produce"),
        ("warm", "consume"),
    ]
    for row in rows:
        assert set(row) == set(TRIALS.column_names)
        assert (row["side"], row["repetition"], row["error"]) == ("a", 1, None)
        assert (row["expected"], row["seen"], row["missing"]) == (20, 20, 0)
    cold, warm = rows[0]["elapsed_ns"], rows[2]["elapsed_ns"]
    # By the law: 20 messages of 1 µs and half a millisecond to the ack; 3 ms to connect.
    assert warm == 20_000 - 1000 + 500_000
    assert cold == warm + 3_000_000
    assert rows[3]["elapsed_ns"] == 1_000_000 + 20 * 100


def test_acks_of_the_last_burst_are_waited_for_within_the_time(tmp_path: Path) -> None:
    """They came in the pause behind it, which was taken off: 19 µs were left of 519."""
    rows = Arena(tmp_path, bursts={"length": 20}).turn(2)
    assert rows[2]["elapsed_ns"] == 20_000 - 1000 + 500_000


def test_a_warm_up_goes_without_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 messages with a pause of a second behind each hundred took longer than a test may."""
    driver = MemoryDriver()
    monkeypatch.setattr(turn_taking, "open_driver", lambda *_: driver)
    bursts = {"length": 100, "interval": 1}
    planned = planned_of({"driver": "simulated"}, bursts=bursts, warm_up_messages=20_000)
    side = TurnTaking("a", planned, {}, {}, seed=5)
    before_ns = driver.world.clock.now_ns()
    side.warm_up("t", {(0, 0): 0})
    assert len(driver.world.log) == 20_000
    assert driver.world.clock.now_ns() - before_ns < NS_PER_S


def test_a_trial_that_fails_marks_itself_and_what_depends_on_it(tmp_path: Path) -> None:
    rows = Arena(tmp_path, {"loss": 1.0}).turn()
    errors = [row["error"] for row in rows]
    assert errors[0] is None
    assert errors[1] == "20 of 20 messages did not come"
    assert errors[2] is None
    assert (rows[1]["elapsed_ns"], rows[1]["missing"]) == (None, 20)


def test_whatever_a_library_raises_is_kept_without_secrets(tmp_path: Path) -> None:
    arena = Arena(tmp_path)

    def broken(*_: object) -> None:
        raise RuntimeError("password hunter2 refused")

    arena.turn_taking._driver.producer = broken  # type: ignore[method-assign, assignment]
    arena.turn_taking._loops._driver = arena.turn_taking._driver  # type: ignore[attr-defined]
    rows = arena.turn()
    assert rows[0]["error"] == "RuntimeError: password *** refused"
    assert rows[1]["error"] == "not tried: RuntimeError: password *** refused"
    assert all(row["elapsed_ns"] is None for row in rows)


def test_the_warm_up_tells_the_settings_in_force(tmp_path: Path) -> None:
    arena = Arena(tmp_path, warm_up_messages=50)
    arena.driver.prepare_topics(arena.planned.comparison.topics, ("w",))
    rows, how = arena.turn_taking.warm_up("w", {(0, 0): 0})
    assert (how.part, how.messages, how.blocks_us) == ("a", 1, {}), "what is simulated needs no warming"
    assert rows[0] == {
        "side": "a",
        "role": "engine",
        "is_shared": False,
        "name": "engine",
        "native": None,
        "value": "python",
        "note": "",
    }


@pytest.fixture
def warming(monkeypatch: pytest.MonkeyPatch) -> Callable[..., PartWarmUp]:
    """A library in memory that is as slow as is said after so many messages, warmed up until at rest."""

    def warm_up(slowness: Callable[[int], float], **comparison: Any) -> PartWarmUp:
        driver = MemoryDriver()
        driver.world.slowness = slowness
        monkeypatch.setattr(turn_taking, "open_driver", lambda *_: driver)
        # By blocks alone, and small ones: nothing is compiled here.
        monkeypatch.setattr(turn_taking, "BlockRest", lambda: BlockRest(least_s=0.0))
        monkeypatch.setattr(turn_taking, "BLOCK_MESSAGES", dict.fromkeys(BLOCK_MESSAGES, 200))
        _, how = TurnTaking("b", planned_of({"driver": "simulated"}, **comparison), {}, {}, seed=5).warm_up(
            "t", {(0, 0): 0}
        )
        assert len(driver.world.log) == how.messages + len(next(iter(how.blocks_us.values())))
        return how

    return warm_up


def test_a_warm_up_goes_on_until_blocks_take_as_long(warming: Callable[..., PartWarmUp]) -> None:
    how = warming(lambda sent: 4.0 if sent < 3000 else 1.0)
    assert how.ended is WarmUpEnding.AT_REST
    assert 3000 + 16 * 200 <= how.messages <= 3000 + 24 * 200
    assert set(how.blocks_us) == {"produce", "consume"}
    assert {len(times) for times in how.blocks_us.values()} == {how.messages // 200}
    assert how.blocks_us["produce"][0] > 2 * how.blocks_us["produce"][-1]


def test_what_is_fast_from_the_first_message_on_is_watched_no_longer_than_it_takes_to_know(
    warming: Callable[..., PartWarmUp],
) -> None:
    how = warming(lambda sent: 1.0, produce_only=True)
    assert (how.ended, how.messages, list(how.blocks_us)) == (WarmUpEnding.AT_REST, 16 * 200, ["produce"])


@pytest.mark.parametrize("bound", [{"most_warm_up_messages": 9999}, {"warm_up_limit": 1.0}])
def test_what_gets_slower_and_slower_comes_to_a_limit(
    warming: Callable[..., PartWarmUp], bound: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = count()
    monkeypatch.setattr(turn_taking, "time", SimpleNamespace(monotonic=lambda: next(looks) / 49))
    how = warming(lambda sent: 1 + sent / 500, **bound)
    assert how.ended is WarmUpEnding.LIMIT
    # 49 blocks of 200 fit below 9,999; a look at the clock for each of them makes a second.
    assert how.messages == 9800


def test_settings_become_rows_shared_ones_once_and_secrets_never() -> None:
    rows = list(settings_rows("b", "consumer", MemoryDriver().consumer(None), {"P": "hunter2"}))  # type: ignore[arg-type]
    assert [(row["is_shared"], row["name"], row["value"]) for row in rows] == [
        (True, "fetch_max_wait_ms", "7"),
        (False, "own", "true"),
        (False, "sasl.password", "***"),
    ]
    assert all(set(row) == set(CLIENT_SETTINGS.column_names) for row in rows)


@pytest.mark.parametrize("preset", ["fair", "seed"])
def test_shared_settings_reach_a_driver_that_knows_them_unless_it_has_its_own(preset: str) -> None:
    planned = planned_of(
        {"driver": "kafka_confluent", "settings": {"linger_ms": 77}, "consumer_client": {"a": 1}},
        {"driver": "simulated", "settings": {"seed": 3}},
        preset=preset,
        settings={"batch_size": 5},
    )
    kafka, simulated = (as_compared(planned, target) for target in (planned.a, planned.b))
    assert (kafka.settings["linger_ms"], kafka.settings["batch_size"]) == (77, 5)
    assert simulated.settings == {"seed": 3}
    own = {"fetch.queue.backoff.ms": 2} if preset == "fair" else {}
    assert kafka.consumer_client == {**own, "a": 1}
