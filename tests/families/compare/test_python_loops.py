from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import CaseFailed
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.python_loops import PythonLoops
from streamgauge.families.compare.section import Comparison
from streamgauge.families.compare.timing import Place
from streamgauge.payload.ordinal import ordinals

from .memory_library import ACK_NS, CONNECT_NS, FETCH_NS, SEND_NS, MemoryDriver

COUNT = 2500
MESSAGES = OrdinalMessages(10, COUNT, seed=1)


class Bench:
    def __init__(self, **comparison: Any) -> None:
        self.driver = MemoryDriver()
        self.world = self.driver.world
        self.loops = PythonLoops(self.driver, Comparison.model_validate(comparison))
        self.place = Place("t", 3, {(0, 0): 0})

    def produce(self, warm: bool = False) -> Any:
        return self.loops.produce(self.place, MESSAGES, warm)

    def consume(self, warm: bool = False) -> Any:
        return self.loops.consume(self.place, MESSAGES, warm)


def test_a_cold_produce_counts_connecting_sending_and_every_ack() -> None:
    bench = Bench()
    outcome = bench.produce()
    assert outcome.elapsed_ns == CONNECT_NS + COUNT * SEND_NS + 3 * ACK_NS
    assert (outcome.seen, outcome.duplicate, outcome.error) == (COUNT, 0, None)
    assert ordinals([key for key, _ in bench.world.log]).tolist() == list(range(COUNT))
    assert bench.world.said == ["flush", "producer closed"]


def test_a_warm_produce_counts_from_after_a_primed_message() -> None:
    bench = Bench()
    outcome = bench.produce(warm=True)
    assert outcome.elapsed_ns == COUNT * SEND_NS + 3 * ACK_NS
    assert ordinals([bench.world.log[0][0]]).tolist() == [-1]
    assert bench.place.start == {(0, 0): 1}
    # Neither are the primer's calls counted.
    assert outcome.counters == {"crossings": COUNT}


def test_without_offsets_the_start_is_asked_for() -> None:
    bench = Bench()
    bench.world.offsets_known = False
    bench.produce(warm=True)
    assert bench.place.start == {(0, 0): 1}


def test_messages_that_are_refused_are_missing_and_said() -> None:
    bench = Bench()
    bench.world.refused = {5: "too large", 7: "too large"}
    outcome = bench.produce()
    assert outcome.seen == COUNT - 2
    assert outcome.error == "2 of 2500 messages were not acked: too large"


def test_a_primer_that_fails_fails_the_test() -> None:
    bench = Bench()
    bench.world.refused = {-1: "not the leader"}
    with pytest.raises(CaseFailed, match="not delivered: not the leader"):
        bench.produce(warm=True)
    assert bench.world.said[-1] == "producer closed"


def test_a_full_client_is_waited_for() -> None:
    bench = Bench()
    bench.world.taken_at_once = 400
    outcome = bench.produce()
    assert (outcome.seen, outcome.error) == (COUNT, None)
    assert outcome.elapsed_ns == CONNECT_NS + COUNT * SEND_NS + 8 * ACK_NS


def test_pauses_between_bursts_are_not_counted() -> None:
    bench = Bench(bursts={"length": 500, "interval": "2s"})
    before = bench.world.clock.now_ns()
    outcome = bench.produce()
    assert outcome.elapsed_ns == CONNECT_NS + COUNT * SEND_NS + 5 * ACK_NS
    # Between five bursts there are four; behind the last one acks are waited for, and that is no pause.
    assert bench.world.clock.now_ns() - before == outcome.elapsed_ns + 4 * 2 * 10**9


@pytest.mark.parametrize(
    ("length", "bursts"), [(1, 2500), (999, 3), (1000, 3), (1250, 2), (1500, 2), (2500, 1)]
)
def test_bursts_have_the_length_asked_for(length: int, bursts: int) -> None:
    bench = Bench(bursts={"length": length, "interval": "1s"})
    before = bench.world.clock.now_ns()
    outcome = bench.produce()
    assert outcome.seen == COUNT
    assert (bench.world.clock.now_ns() - before - outcome.elapsed_ns) / 10**9 == bursts - 1


def test_a_cold_consume_counts_connecting_and_fetching() -> None:
    bench = Bench()
    bench.produce()
    outcome = bench.consume()
    assert outcome.elapsed_ns == CONNECT_NS + FETCH_NS
    assert (outcome.seen, outcome.duplicate, outcome.corrupt, outcome.error) == (COUNT, 0, None, None)


def test_a_warm_consume_counts_from_the_assignment_with_nothing_on_its_way() -> None:
    bench = Bench()
    bench.produce(warm=True)
    bench.world.said.clear()
    before = bench.world.clock.now_ns()
    outcome = bench.consume(warm=True)
    assert outcome.elapsed_ns == FETCH_NS
    assert bench.world.said == [
        f"assign {{(0, 0): {COUNT + 1}}}",
        f"ready at {COUNT + 1}",
        "assign {}",
        "assign {(0, 0): 1}",
        "consumer closed",
    ]
    # The broker's 7 ms for a fetch that found nothing, and a margin, are waited out before.
    assert bench.world.clock.now_ns() - before == CONNECT_NS + 27_000_000 + FETCH_NS


def test_lost_messages_end_the_reading_early_and_are_counted() -> None:
    bench = Bench()
    bench.world.lost = {1, 2, 3}
    bench.produce()
    outcome = bench.consume()
    assert outcome.seen == COUNT - 3
    assert outcome.error == "3 of 2500 messages did not come"


def test_a_consumer_that_gets_nothing_runs_into_the_deadline() -> None:
    bench = Bench(test_timeout="10ms")
    bench.driver.end_offsets = lambda topics, partitions: {(0, 0): 5}  # type: ignore[method-assign]
    with pytest.raises(CaseFailed, match=r"consume: 0 of 2500 messages within 0\.01 s"):
        bench.consume()


@pytest.mark.parametrize(("checked", "corrupt"), [(True, 2), (False, None)])
def test_damage_is_found_where_values_are_checked(checked: bool, corrupt: int | None) -> None:
    bench = Bench(check_on_consume=checked)
    bench.world.damaged = {4, 5}
    bench.produce()
    outcome = bench.consume()
    assert outcome.corrupt == corrupt
    assert outcome.error == ("2 records are not what was sent" if checked else None)


def test_a_round_trip_sends_the_next_message_when_the_one_before_is_back() -> None:
    bench = Bench(round_trip=True, check_on_consume=True)
    messages = OrdinalMessages(10, 20, seed=1)
    outcome = bench.loops.round_trip(bench.place, messages, warm=True)
    assert outcome.elapsed_ns == 20 * (SEND_NS + FETCH_NS + ACK_NS)
    assert (outcome.seen, outcome.corrupt, outcome.error) == (20, 0, None)
    cold = bench.loops.round_trip(Place("t", 4, {(0, 0): len(bench.world.log)}), messages, warm=False)
    # Both clients are made within the time; the producer's clock counts from when it is begun.
    assert cold.elapsed_ns >= outcome.elapsed_ns + CONNECT_NS


def test_clients_are_kept_to_be_asked_for_their_settings() -> None:
    bench = Bench()
    bench.produce()
    bench.consume()
    assert set(bench.loops.clients) == {"producer", "consumer"}
