"""One library of a comparison, in whatever process it has: it takes its turns and tells of every trial."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from typing import Any, Protocol

from streamgauge.core.clock import now_ns
from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import Driver
from streamgauge.drivers.engine import has_timed_loops
from streamgauge.drivers.registry import driver_class, open_driver
from streamgauge.families.compare.block_rest import BLOCK_MESSAGES, BlockRest
from streamgauge.families.compare.client_settings import engine_row, settings_rows
from streamgauge.families.compare.jvm_loops import JvmLoops
from streamgauge.families.compare.ordinal_messages import OrdinalMessages
from streamgauge.families.compare.outcome import Outcome
from streamgauge.families.compare.planned_comparison import (
    SIDES,
    TEMPERATURES,
    WARM_UP,
    PlannedComparison,
    Side,
    Temperature,
    Turn,
)
from streamgauge.families.compare.python_loops import PythonLoops
from streamgauge.families.compare.section import Comparison, EngineName, Operation
from streamgauge.families.compare.timing import Place
from streamgauge.plan.warm_up_file import PartWarmUp, WarmUpEnding
from streamgauge.spec.secrets import fill_in, strike_out
from streamgauge.spec.target import Target

_WARM_UP_BYTES = 100
_WARM_UP_NUMBER = 0
_COUNT_CALLS = "count_jni_calls"
"""The setting of drivers that can count their calls into Java."""

Row = dict[str, Any]


class Loops(Protocol):
    """The timed operations, by an engine."""

    engine: EngineName

    @property
    def clients(self) -> Mapping[str, Any]:
        """The newest of each role."""

    def produce(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome: ...

    def consume(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome: ...

    def round_trip(self, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome: ...


class TurnTaking:
    """One side."""

    def __init__(
        self,
        side: Side,
        planned: PlannedComparison,
        endpoints: Mapping[str, str],
        environment: Mapping[str, str],
        seed: int,
    ) -> None:
        self._side, self._planned, self._environment, self._seed = side, planned, environment, seed
        target = fill_in(as_compared(planned, planned.target_of(side)), environment)
        self._driver = open_driver(target, endpoints)
        self._loops: Loops = _loops(self._driver, planned.comparison)
        self._counting = self._loops
        """What the round that is not counted runs: counting calls takes time."""
        if _COUNT_CALLS in type(self._driver).settings_model.model_fields:
            settings = {**target.settings, _COUNT_CALLS: True}
            counted = open_driver(target.model_copy(update={"settings": settings}), endpoints)
            self._counting = _loops(counted, planned.comparison)
        self._messages: OrdinalMessages | None = None

    def warm_up(self, topic: str, start: dict[tuple[int, int], int]) -> tuple[list[Row], PartWarmUp]:
        """Let everything that is loaded or compiled only once be so; the client settings in force, and how it
        went."""
        comparison = self._planned.comparison
        place = Place(topic, _WARM_UP_NUMBER, start)
        # All at once: with pauses between bursts it would take minutes, and warm nothing.
        loops = _loops(self._driver, comparison.model_copy(update={"bursts": None}))
        if self._driver.capabilities.simulated_time:
            found = self._so_many(loops, place, 1)  # what is simulated needs no warming
        elif comparison.warm_up_messages == "auto":
            found = self._until_at_rest(loops, place)
        else:
            found = self._so_many(loops, place, max(1, comparison.warm_up_messages))
        rows = [engine_row(self._side, self._loops.engine, _version(self._driver))]
        for role, client in loops.clients.items():
            rows += settings_rows(self._side, role, client, self._environment)
        return rows, found

    def _so_many(self, loops: Loops, place: Place, count: int) -> PartWarmUp:
        messages, begun_s = OrdinalMessages(_WARM_UP_BYTES, count, self._seed), time.monotonic()
        for operation in ("produce",) if self._planned.comparison.produce_only else ("produce", "consume"):
            _warm(loops, operation, place, messages, False)
        seconds = time.monotonic() - begun_s
        return PartWarmUp(part=self._side, ended=WarmUpEnding.AT_REST, seconds=seconds, messages=count)

    def _until_at_rest(self, loops: Loops, place: Place) -> PartWarmUp:
        comparison, rest, begun_s = self._planned.comparison, BlockRest(), time.monotonic()
        blocks = {
            operation: OrdinalMessages(_WARM_UP_BYTES, BLOCK_MESSAGES[operation], self._seed)
            for operation in comparison.operations
        }
        of_block = max(messages.count for messages in blocks.values())
        sent = 0
        while True:
            if sent:  # behind what the blocks before have left in the topic
                place.start = self._driver.end_offsets((place.topic,), comparison.topics.partitions)
            taken = {name: _warm(loops, name, place, messages, True) for name, messages in blocks.items()}
            sent += of_block
            rest.add(taken, now_s := time.monotonic())
            ended = WarmUpEnding.AT_REST if rest.is_at_rest else WarmUpEnding.LIMIT
            is_over = now_s - begun_s >= comparison.warm_up_limit
            if ended is WarmUpEnding.AT_REST or is_over or sent + of_block > comparison.most_warm_up_messages:
                return PartWarmUp(
                    part=self._side,
                    ended=ended,
                    seconds=now_s - begun_s,
                    messages=sent,
                    blocks_us={str(name): times for name, times in rest.times_us.items()},
                )

    def take_turn(self, turn: Turn, starts: Mapping[str, dict[tuple[int, int], int]]) -> list[Row]:
        """A cold test and a warm one; a row for each operation of each, also for those that failed."""
        cell = turn.cell
        if (kept := self._messages) is None or (kept.length, kept.count) != (cell.length, cell.messages):
            self._messages = None  # the old values must not be in the way of the new ones
            self._messages = OrdinalMessages(cell.length, cell.messages, self._seed)
        rows: list[Row] = []
        for temperature in TEMPERATURES:
            topic = turn.topics[temperature]
            place = Place(topic, self._number(turn, temperature), dict(starts[topic]))
            failed: str | None = None
            for operation in self._planned.comparison.operations:
                gc.collect()
                row = self._trial(turn, temperature, operation, place, failed)
                failed = failed or row["error"]
                rows.append(row)
        return rows

    def close(self) -> None:
        self._driver.close()

    def _trial(
        self, turn: Turn, temperature: Temperature, operation: Operation, place: Place, failed: str | None
    ) -> Row:
        assert self._messages is not None
        row = blank_row(turn, temperature, operation)
        if failed is not None:
            return row | {"error": f"not tried: {failed}"}
        try:
            loops = self._counting if turn.repetition == WARM_UP else self._loops
            outcome = _operation(loops, operation, place, self._messages, temperature == "warm")
        except Exception as error:  # whatever a library raises: it marks this trial, and the rest goes on
            text = str(error) or "no reason given"
            return row | {"error": strike_out(f"{type(error).__name__}: {text}", self._environment)}
        return row | {
            "started_ns": outcome.started_ns,
            "elapsed_ns": None if outcome.error else outcome.elapsed_ns,
            "cpu_ns": None if outcome.error else outcome.cpu_ns,
            "seen": outcome.seen,
            "missing": turn.cell.messages - outcome.seen,
            "duplicate": outcome.duplicate,
            "corrupt": outcome.corrupt,
            "crossings": outcome.counters.get("crossings"),
            "jni_calls": outcome.counters.get("jni_calls"),
            "error": outcome.error and strike_out(outcome.error, self._environment),
        }

    def _number(self, turn: Turn, temperature: Temperature) -> int:
        """No two tests of a run share one, and none is the warm-up's."""
        place = turn.cell.number * (self._planned.comparison.repeat + 1) + turn.repetition + 1
        return 1 + (place * len(SIDES) + SIDES.index(turn.side)) * 2 + TEMPERATURES.index(temperature)


def _version(driver: Driver) -> str:
    """`librdkafka 2.16.0`; empty where there is no library."""
    return ", ".join(f"{name} {version}" for name, version in driver.library_version().items())


def _warm(loops: Loops, name: str, place: Place, messages: OrdinalMessages, warm: bool) -> int:
    """How long it took, in ns; a library that cannot even do that is not compared."""
    outcome = _operation(loops, name, place, messages, warm)
    if outcome.error is not None:
        raise CaseFailed(f"warm-up: {name}: {outcome.error}")
    return outcome.elapsed_ns


def _operation(loops: Loops, name: str, place: Place, messages: OrdinalMessages, warm: bool) -> Outcome:
    operations = {"produce": loops.produce, "consume": loops.consume, "round_trip": loops.round_trip}
    return operations[name](place, messages, warm)


def _loops(driver: Driver, comparison: Comparison) -> Loops:
    """By the engine asked for; where libraries may differ in it, by the one that this library has."""
    if comparison.engine == "python" or (comparison.mix_engines and not has_timed_loops(type(driver))):
        return PythonLoops(driver, comparison)
    return JvmLoops(driver, comparison)


def as_compared(planned: PlannedComparison, target: Target) -> Target:
    """The target with the settings that both share, as far as its driver knows them and it has no own."""
    comparison = planned.comparison
    kind = driver_class(target)
    known = kind.settings_model.model_fields
    shared = {name: value for name, value in comparison.shared_settings.items() if name in known}
    own = kind.fair_client if comparison.preset == "fair" else {}
    clients = {part: {**values, **getattr(target, part)} for part, values in own.items()}
    return target.model_copy(update={"settings": {**shared, **target.settings}, **clients})


def blank_row(turn: Turn, temperature: Temperature, operation: Operation) -> Row:
    """A trial of which nothing is known but that it should have been."""
    return {
        "length": turn.cell.length,
        "messages": turn.cell.messages,
        "operation": operation,
        "temperature": temperature,
        "side": turn.side,
        "repetition": turn.repetition,
        "position": turn.position,
        "topic": turn.topics[temperature],
        "started_ns": now_ns(),
        "elapsed_ns": None,
        "cpu_ns": None,
        "expected": turn.cell.messages,
        "seen": 0,
        "missing": turn.cell.messages,
        "duplicate": 0,
        "corrupt": None,
        "crossings": None,
        "jni_calls": None,
        "error": None,
    }
