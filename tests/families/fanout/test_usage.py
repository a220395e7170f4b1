"""What processes of a fan-out used, on one host and on several whose counters are nothing alike."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from streamgauge.families.fanout.usage import usage, wire
from streamgauge.tables.events import SAMPLES

S = 10**9
SENDING = {"001": {"begin_ns": 10 * S, "end_ns": 20 * S}}


def looks(kind: str, host: str, *, cpu_s: tuple[float, float], source: str = "", **counters: Any) -> Any:
    """At the beginning and at the end; `counters` are pairs, too."""
    return [
        {
            **dict.fromkeys(SAMPLES.column_names),
            "case": "001",
            "at_ns": (10 + 10 * place) * S,
            "source": source or kind,
            "kind": kind,
            "host": host,
            "cores": 4,
            "cpu_s": cpu_s[place],
            "rss_bytes": 100,
            **{name: values[place] for name, values in counters.items()},
        }
        for place in (0, 1)
    ]


def used(*rows: Any, sending: Any = SENDING) -> dict[str, Any]:
    schema = SAMPLES.arrow_schema().append(pa.field("case", pa.string()))
    table = pa.Table.from_pylist([row for part in rows for row in part], schema=schema)
    return usage(table, sending).get("001", {})


def test_counters_of_two_hosts_are_never_taken_for_those_of_one() -> None:
    """Each counts since its own boot, under the same name."""
    found = used(
        looks("machine", "old", cpu_s=(90_000, 90_010), swapped_bytes=(7e9, 7e9), throttled_count=(900, 901)),
        looks("machine", "new", cpu_s=(50, 70), swapped_bytes=(0, 64), throttled_count=(0, 2)),
    )
    assert found["machine_share"] == pytest.approx(0.5), "of the busiest: 20 s of 4 cores' 40"
    assert (found["swapped_bytes"], found["throttled_count"]) == (64, 3)


def test_processes_of_a_role_are_summed_wherever_they_are() -> None:
    found = used(
        looks("gateway", "a", cpu_s=(1, 3)),
        looks("gateway", "b", cpu_s=(500, 505)),
        looks("broker", "a", cpu_s=(0, 1), net_sent_bytes=(1000, 2000), net_received_bytes=(0, 10)),
    )
    assert found["gateway_cpu_cores"] == pytest.approx(0.2 + 0.5)
    assert found["gateway_memory_bytes"] == 200
    assert (found["broker_sent_bits_per_s"], found["broker_received_bits_per_s"]) == (800, 8)
    assert found["swarm_cpu_cores"] is None
    assert found["machine_share"] is found["busiest_client_cores"] is None


def test_the_busiest_client_is_a_process_and_no_sum() -> None:
    found = used(
        looks("swarm", "a", cpu_s=(1, 5), source="swarm-0"),
        looks("swarm", "a", cpu_s=(1, 7), source="swarm-1"),
        looks("producer", "b", cpu_s=(0, 5)),
        looks("gateway", "a", cpu_s=(0, 20)),
    )
    assert found["swarm_cpu_cores"] == pytest.approx(1.0)
    assert found["busiest_client_cores"] == pytest.approx(0.6)


def test_of_a_case_that_sent_nothing_nothing_is_known() -> None:
    rows = looks("machine", "a", cpu_s=(0, 40))
    assert used(rows, sending={}) == used(rows, sending={"001": {"begin_ns": None, "end_ns": None}}) == {}


def test_wire_is_of_all_swarms() -> None:
    row = {"case": "001", "seconds": 2.0, "received_bytes": 100, "sent_bytes": 10}
    [found] = wire([row, row], {"001": 50}, {"001": 4}).values()
    assert (found["to_clients_bits_per_s"], found["from_clients_bits_per_s"]) == (800, 80)
    assert (found["bytes_per_client"], found["bytes_per_update"]) == (50, 4)
    [found] = wire([row], {}, {"001": 4}).values()
    assert found["bytes_per_update"] is None
