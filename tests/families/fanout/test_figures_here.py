"""Few updates are counted in this process and many by Spark: the figures are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from streamgauge.families.fanout.clock_shifts import SHIFTS
from streamgauge.families.fanout.event_tables import GENERATED, NO_KEY, UPDATES
from streamgauge.families.fanout.figures_by_spark import figures_by_spark
from streamgauge.families.fanout.figures_here import figures_here
from streamgauge.families.fanout.hosts import SHARES
from streamgauge.families.fanout.names import ScenarioName
from streamgauge.families.fanout.scenario_messages import keys_of
from streamgauge.families.fanout.section import SCENARIOS
from streamgauge.families.fanout.update_figures import UpdateFigures, hostnames_of

MS, S = 10**6, 10**9
WALL = 1_700_000_000 * S
CASES: dict[str, ScenarioName] = {"001": "1", "002": "2", "003": "3", "004": "3jp"}
CLIENTS, MESSAGES, PER_S = 12, 400, 100
ODD = "005"
"""A case with one message, one update of it, and one that nobody sent; then cases without any message, and
without any update that counts."""

Row = dict[str, Any]


def sent_rows() -> Iterator[Row]:
    for case, scenario in CASES.items():
        keys = len(keys_of(SCENARIOS[scenario].kind))
        for number in range(MESSAGES):
            due_ns = 7 * S + number * S // PER_S + int(case)
            yield _sent(case, due_ns, number % keys if keys else NO_KEY, is_warm_up=number < MESSAGES // 5)
    yield _sent(ODD, S, 0, is_warm_up=False)
    yield _sent("007", S, 0, is_warm_up=True)


def _sent(case: str, due_ns: int, key: int, *, is_warm_up: bool) -> Row:
    times = {"intended_ns": due_ns, "sent_ns": due_ns + MS, "acked_ns": due_ns + 2 * MS}
    about = {"case": case, "stamp_ns": WALL + due_ns, "producer": 0, "key": key, "size_bytes": 100}
    return {**about, **times, "is_warm_up": is_warm_up, "error": None}


def update_rows(sent: list[Row]) -> Iterator[Row]:
    """With some that are missing, twice, or of nobody; a few from before they were due."""
    draw = np.random.default_rng(5)
    for row in sent:
        if row["case"] not in CASES:
            continue
        for client in range(CLIENTS):
            if row["key"] not in (NO_KEY, client % 3) or draw.random() < 0.01:
                continue
            took_ns = int(draw.lognormal(1, 1) * MS) - MS // 3
            got = {"case": row["case"], "client": client, "received_ns": row["intended_ns"] + took_ns}
            yield {**got, "stamp_ns": row["stamp_ns"]}
            if draw.random() < 0.02:
                yield {**got, "stamp_ns": row["stamp_ns"], "received_ns": got["received_ns"] + 5 * MS}
            if draw.random() < 0.01:
                yield {**got, "stamp_ns": row["stamp_ns"] + 1}
    for case, stamp_ns in ((ODD, WALL + S), (ODD, 3), ("006", WALL), ("007", WALL + S)):
        yield {"case": case, "client": 1, "stamp_ns": stamp_ns, "received_ns": S + 3 * MS}


SENT = list(sent_rows())
UPDATE_ROWS = list(update_rows(SENT))
SHARE_ROWS = [
    {"case": case, "hostname": f"host-{first % 2}", "first": first, "end": first + 4}
    for case in (*CASES, ODD)
    for first in (0, 4)  # of the last swarm nobody knows the host
]
SHIFT_ROWS = [
    {
        "of_case": "002",
        "first": first,
        "end": first + 4,
        "since_ns": 7 * S,
        "shift_ns": first * MS - 2 * MS,
        "drift": -1.7e-5,
    }
    for first in (4, 0)
]


def with_case(schema: pa.Schema) -> pa.Schema:
    return schema.append(pa.field("case", pa.string()))


def rows_in_order(table: pa.Table) -> list[Row]:
    return sorted(table.to_pylist(), key=lambda row: [str(row.get(n)) for n in ("case", *KEYS)])


KEYS = ("hostname", "second", "client", "latency_ms")


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> tuple[UpdateFigures, UpdateFigures]:
    """Here, and by Spark."""
    updates = pa.Table.from_pylist(UPDATE_ROWS, schema=with_case(UPDATES.arrow_schema()))
    rest = (
        pa.Table.from_pylist(SENT, schema=with_case(GENERATED.arrow_schema())),
        pa.Table.from_pylist(SHIFT_ROWS, schema=SHIFTS),
        pa.Table.from_pylist(SHARE_ROWS, schema=SHARES),
    )
    by_case = [updates.filter(pc.equal(updates["case"], f"{n:03d}")) for n in range(1, 9)]
    return figures_here(by_case, *rest), figures_by_spark(spark, spark.createDataFrame(updates), *rest)


@pytest.mark.spark
@pytest.mark.parametrize("name", UpdateFigures._fields)
def test_both_ways_give_the_same(found: tuple[UpdateFigures, UpdateFigures], name: str) -> None:
    here, there = (getattr(figures, name) for figures in found)
    assert here.schema == there.schema
    ours, theirs = rows_in_order(here), rows_in_order(there)
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        assert one == {
            column: pytest.approx(value, rel=1e-9, abs=1e-9) if isinstance(value, float) else value
            for column, value in other.items()
        }


@pytest.mark.spark
def test_all_that_was_planted_is_in_them(found: tuple[UpdateFigures, UpdateFigures]) -> None:
    """Else it would be no wonder that they are the same."""
    here = found[0]
    of_case = {row["case"]: row for row in here.latency.to_pylist()}
    assert set(of_case) == {*CASES, ODD}
    assert (of_case[ODD]["samples"], of_case[ODD]["sd_ms"], of_case[ODD]["p99_ms"]) == (1, None, 3.0)
    assert min(row["min_ms"] for row in of_case.values()) < 0
    assert {row["case"] for row in here.strays.to_pylist()} >= {"001", "002", ODD, "006"}
    assert any(row["copies"] > row["distinct"] for row in here.named.to_pylist())
    warm: dict[str, set[bool]] = {row["case"]: set() for row in here.seconds.to_pylist()}
    for row in here.seconds.to_pylist():
        warm[row["case"]].add(row["is_warm_up"])
    assert warm["007"] == {True}
    assert warm["001"] == {True, False}


def test_a_client_is_on_the_host_of_the_swarm_that_has_it() -> None:
    clients = pa.table({"case": ["1", "1", "2", "1", "3"], "client": [0, 5, 5, 9, 0]})
    shares = pa.table(
        {"case": ["1", "1", "2"], "hostname": ["b", "a", "c"], "first": [5, 0, 0], "end": [9, 5, 9]}
    )
    assert hostnames_of(clients, shares).to_pylist() == ["a", "b", "c", None, None]


def test_of_no_updates_there_are_no_figures() -> None:
    updates, sent = (with_case(table.arrow_schema()).empty_table() for table in (UPDATES, GENERATED))
    for parts in ([], [updates]):
        found = figures_here(parts, sent, SHIFTS.empty_table(), SHARES.empty_table())
        assert [table.num_rows for table in found] == [0] * len(UpdateFigures._fields)
