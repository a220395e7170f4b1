from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import now_ns
from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.core.steady_state import SLOT_NS
from streamgauge.families.fanout import generator_life
from streamgauge.families.fanout.generator import Generator
from streamgauge.families.fanout.generator_life import GeneratorLife
from streamgauge.families.fanout.point import FanoutPoint
from streamgauge.families.fanout.section import Fanout
from streamgauge.plan.agent_tasks import AgentTask
from streamgauge.spec.target import Target
from streamgauge.tables.column import Table
from tests.agents.conftest import Assign
from tests.agents.fakes import FakeRendezvous


def test_a_broker_that_answers_nobody_beside_the_clients_is_the_end_of_a_series(
    assign: Assign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there before the clients came, so this is no broken case but a point that does not hold."""

    def unreachable(*_: Any, **__: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(generator_life, "Generator", unreachable)
    target = Target(name="kafka", driver="kafka_confluent", settings={"bootstrap": "127.0.0.1:1"})
    fanout = Fanout(clients=(4000,))
    point = FanoutPoint(scenario="1", clients=4000, via="kafka-groups", series="kafka-groups", fanout=fanout)
    life = GeneratorLife(assign().model_copy(update={"target": target, "kind": "fanout", "work": point}))
    with pytest.raises(CaseFailed, match="beside 4,000 clients: no answer"):
        life.run(FakeRendezvous())


class SentAtOnce(Generator):
    """Nobody waits for the clock, and the broker has everything at once."""

    def __init__(self, *_: Any) -> None:
        self._rows, self.sent, self.failed = {}, 0, 0

    def run(self, start_ns: int, count: Callable[[], int | None], go_on: Callable[[], bool]) -> None:
        while ((most := count()) is None or self.sent < most) and go_on():
            row = {"stamp_ns": self.sent, "producer": 0, "key": 0, "size_bytes": 1, "error": None}
            times = dict.fromkeys(("intended_ns", "sent_ns", "acked_ns"), start_ns + self.sent)
            self._rows[self.sent] = {**row, **times}
            self.sent += 1

    def flush(self, deadline_s: float) -> int:
        return 0

    def close(self) -> None: ...


Lived = Callable[..., tuple[GeneratorLife, list[dict[str, Any]]]]


@pytest.fixture
def lived(assign: Assign, monkeypatch: pytest.MonkeyPatch) -> Lived:
    """A generator's life to its end, and the rows of table `generated`."""

    def live(rendezvous: FakeRendezvous, **asked: Any) -> tuple[GeneratorLife, list[dict[str, Any]]]:
        monkeypatch.setattr(generator_life, "Generator", SentAtOnce)
        target = Target(name="kafka", driver="kafka_confluent", settings={"bootstrap": "127.0.0.1:1"})
        # A hundred messages a second for half a second.
        fanout = Fanout(clients=(1,), producers=10, pause=0.1, duration=0.5, **asked)
        point = FanoutPoint(scenario="1", clients=1, via="kafka-groups", series="k", fanout=fanout)
        task = AgentTask(kind="producer", number=0)
        given = {"target": target, "kind": "fanout", "work": point, "task": task}
        life = GeneratorLife(assign().model_copy(update=given))
        rows: list[dict[str, Any]] = []

        def keep(table: Table, written: list[dict[str, Any]]) -> None:
            rows.extend(written if table.name == "generated" else [])

        monkeypatch.setattr(life.files, "write_rows", keep)
        try:
            life.run(rendezvous)
        finally:
            life.close()
        return life, rows

    return live


def begun(**said: Any) -> FakeRendezvous:
    """With slots that are over already: levels are told of at once."""
    return FakeRendezvous(start=Start(at_ns=now_ns() - 4 * SLOT_NS), **said)


def test_messages_count_since_the_slot_that_was_said_last(lived: Lived) -> None:
    slots = iter([None] * 30 + [1] * 20)
    rendezvous = begun(measured_slot=lambda: next(slots, 2))
    life, rows = lived(rendezvous)
    assert [row["is_warm_up"] for row in rows] == [True] * 50 + [False] * 50
    assert life.manifest.warm_up_messages == {"0": 50}
    assert life.manifest.measured_slots == {"0": 2}
    assert rendezvous.ends == {(0, 0): 100}
    assert all(count == 0 for count, _, _ in rendezvous.levels), "who sends tells of its CPU only"


@pytest.mark.parametrize(("asked", "ahead"), [({"warm_up": 0.2}, 20), ({}, 50)])
def test_a_noise_floor_is_of_while_messages_that_count_were_due(
    lived: Lived, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], ahead: int
) -> None:
    monkeypatch.setattr(generator_life, "NoiseFloor", Floor)
    rendezvous = begun(measured_slot=lambda: 2)
    life, rows = lived(rendezvous, **asked)
    floor = life.manifest.noise_floor
    assert floor["begin_ns"] == rendezvous.start.at_ns + ahead * 10_000_000
    assert floor["end_ns"] >= rendezvous.start.at_ns + 4 * SLOT_NS
    assert sum(row["is_warm_up"] for row in rows) == ahead


class Floor:
    def __init__(self, producer_count: int, most_s: float) -> None:
        assert producer_count == 1, "the producers of a generator share a process"
        assert most_s in (0.7, 60.5), "the warm-up, or its limit, and what is measured"
        self._is_running = False

    def start(self) -> None:
        self._is_running = True

    def stop(self) -> None:
        self._is_running = False

    def between(self, begin_ns: int, end_ns: int) -> dict[str, float]:
        assert not self._is_running
        return {"begin_ns": begin_ns, "end_ns": end_ns}


def test_what_came_of_precedence_is_said(lived: Lived, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    @contextmanager
    def granted(precedence: str, place: int) -> Iterator[dict[str, str]]:
        asked.append((precedence, place))
        yield {"thread priority": "real time 1"}

    monkeypatch.setattr(generator_life, "precedence", granted)
    life, _ = lived(begun(measured_slot=lambda: 2), precedence="real_time")
    assert asked == [("real_time", 0)]
    assert life.manifest.settings["thread priority"] == "real time 1"


def test_a_fixed_warm_up_is_nobody_s_to_say(lived: Lived) -> None:
    rendezvous = begun(measured_slot=lambda: 7)
    life, rows = lived(rendezvous, warm_up=0.2)
    assert [row["is_warm_up"] for row in rows] == [True] * 20 + [False] * 50
    assert (life.manifest.warm_up_messages, rendezvous.levels) == ({}, [])


def test_of_a_run_that_is_given_up_before_the_load_was_at_rest_nothing_counts(lived: Lived) -> None:
    looks = iter([False] * 40)
    life, rows = lived(begun(stopping=lambda: next(looks, True)))
    assert life.manifest.outcome == "stopped"
    assert len(rows) == 40
    assert all(row["is_warm_up"] for row in rows)


def test_nobody_waits_for_ever_to_hear_since_when_messages_count(lived: Lived) -> None:
    late = FakeRendezvous(start=Start(at_ns=now_ns() - 10_000 * 1_000_000_000))
    with pytest.raises(CaseFailed, match="nobody said"):
        lived(late)
