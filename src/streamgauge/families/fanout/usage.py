"""What each kind of process of a point used, and what its machines had to do without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from streamgauge.analysis.squeezed import squeezed, sum_of_known
from streamgauge.core.clock import NS_PER_S
from streamgauge.families.fanout.result_tables import ROLES

Row = dict[str, Any]

_BITS = 8
_CLIENTS = ("swarm", "producer")
"""What is around the system: with one of them out of CPU, what it measures is its own queue."""
_SUMMED = ("cpu_cores", "memory_bytes")
_AT_SOCKETS = ("sent_bits_per_s", "received_bits_per_s")


def usage(samples: pa.Table, sending: Mapping[str, Row]) -> dict[str, Row]:
    """By case: while messages that count were sent. `samples`: on the reference clock; `sending`: of
    `sending_of`."""
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in samples.to_pylist():
        if row["case"] in sending and sending[row["case"]]["begin_ns"] is not None:
            by_case[row["case"]].append(row)
    return {
        case: _of_case(rows, sending[case]["begin_ns"], sending[case]["end_ns"])
        for case, rows in by_case.items()
    }


def _of_case(samples: Sequence[Row], begin_ns: int, end_ns: int) -> Row:
    """Counters are each process's own, and those of a machine count since its boot: never two together."""
    own: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in samples:
        if begin_ns <= row["at_ns"] <= end_ns:
            own[row["kind"], row["host"], row["source"]].append(row)
    used: dict[str, list[Row]] = defaultdict(list)
    for (kind, _, _), rows in own.items():
        used[kind].append(_of_process(rows))
    found: Row = dict(squeezed(samples, begin_ns, end_ns)._asdict())
    shares = (machine["share"] for machine in used["machine"] if machine["share"] is not None)
    found["machine_share"] = max(shares, default=None)
    clients = (one["cpu_cores"] for role in _CLIENTS for one in used[role] if one["cpu_cores"] is not None)
    found["busiest_client_cores"] = max(clients, default=None)
    for role in ROLES:
        names = (*_SUMMED, *_AT_SOCKETS) if role == "broker" else _SUMMED
        found |= {f"{role}_{name}": sum_of_known(one[name] for one in used[role]) for name in names}
    return found


def _of_process(rows: Sequence[Row]) -> Row:
    times_ns = [row["at_ns"] for row in rows]
    seconds = (max(times_ns) - min(times_ns)) / NS_PER_S

    def per_s(name: str) -> float | None:
        known = [row[name] for row in rows if row[name] is not None]
        return (max(known) - min(known)) / seconds if known and seconds > 0 else None

    cores, sent, received = (per_s(name) for name in ("cpu_s", "net_sent_bytes", "net_received_bytes"))
    return {
        "cpu_cores": cores,
        "memory_bytes": max(row["rss_bytes"] for row in rows),
        "sent_bits_per_s": None if sent is None else _BITS * sent,
        "received_bits_per_s": None if received is None else _BITS * received,
        "share": None if cores is None else cores / max(row["cores"] for row in rows),
    }


def wire(traffic: Iterable[Row], received: Mapping[str, int], clients: Mapping[str, int]) -> dict[str, Row]:
    """By case: what went through the sockets of all swarms. `received`: updates; `clients`: how many."""
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in traffic:
        by_case[row["case"]].append(row)
    found = {}
    for case, rows in by_case.items():
        bytes_in, bytes_out = (sum(row[name] for row in rows) for name in ("received_bytes", "sent_bytes"))
        seconds, updates = max(row["seconds"] for row in rows), received.get(case, 0)
        found[case] = {
            "to_clients_bits_per_s": _BITS * bytes_in / seconds,
            "from_clients_bits_per_s": _BITS * bytes_out / seconds,
            "bytes_per_client": bytes_in / clients[case] if case in clients else None,
            "bytes_per_update": bytes_in / updates if updates else None,
        }
    return found
