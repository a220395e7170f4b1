"""Messages that were received more than once: written twice, or read twice?

The first is the producer's and the log's doing, and idempotence rules it out; the second is a consumer's that
began again, and at-least-once allows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from streamgauge.analysis.joining.columns import SEQUENCE_BITS, integers, message_keys
from streamgauge.analysis.joining.groups import Integers
from streamgauge.core.findings import MOST_EXAMPLES, Example
from streamgauge.tables.events import INTACT

COPIED = ["consumer", "arrival", "state", "producer", "sequence", "topic", "partition", "offset"]


@dataclass
class Copies:
    written_again: int = 0
    read_again: int = 0
    written_keys: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Sorted: of each message that was written again, once for each time."""
    written: list[Example] = field(default_factory=list)
    read: list[Example] = field(default_factory=list)


def sort_out(repeated: Integers, parts: Iterable[pa.Table]) -> Copies:
    """`repeated`: sorted keys of the messages in question; `parts`: all records of the case."""
    found = Copies()
    kept = [_of(part, repeated) for part in parts]
    rows = {name: np.concatenate([one[name] for one in kept]) for name in kept[0]} if kept else {}
    if not rows or not len(rows["key"]):
        return found
    columns = [rows[name] for name in ("key", "topic", "partition", "offset", "consumer", "arrival")]
    order = np.lexsort(tuple(reversed(columns)))
    key, topic, partition, offset, *_ = (values[order] for values in columns)
    is_same_message = key[1:] == key[:-1]
    # Without an offset nobody can tell one place from another: then it was read twice.
    is_same_place = (
        (topic[1:] == topic[:-1]) & (partition[1:] == partition[:-1]) & (offset[1:] == offset[:-1])
    )
    again = np.flatnonzero(is_same_message & is_same_place) + 1
    elsewhere = np.flatnonzero(is_same_message & ~is_same_place) + 1
    found.read_again, found.written_again = len(again), len(elsewhere)
    found.written_keys = key[elsewhere]
    own = {name: values[order] for name, values in rows.items()}
    found.read = [_example(own, row) for row in again[:MOST_EXAMPLES].tolist()]
    found.written = [
        _example(own, row).model_copy(update={"other_offset": int(offset[row - 1])})
        for row in elsewhere[:MOST_EXAMPLES].tolist()
    ]
    return found


def _of(part: pa.Table, repeated: Integers) -> dict[str, Integers]:
    keys = message_keys(integers(part, "producer"), integers(part, "sequence"))
    at = np.searchsorted(repeated, keys)
    at[at == len(repeated)] = 0
    is_one = (repeated[at] == keys) & (integers(part, "state") == INTACT)
    names = ("consumer", "arrival", "topic", "partition", "offset")
    return {"key": keys[is_one]} | {name: integers(part, name)[is_one] for name in names}


def _example(rows: dict[str, Integers], row: int) -> Example:
    key = int(rows["key"][row])
    return Example(
        topic=str(int(rows["topic"][row])),
        producer=key >> SEQUENCE_BITS,
        sequence=key & ((1 << SEQUENCE_BITS) - 1),
        **{name: int(rows[name][row]) for name in ("partition", "offset", "consumer", "arrival")},
    )
