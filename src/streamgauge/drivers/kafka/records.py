"""Records of the Python libraries, one object each with the same fields, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from streamgauge.drivers.contract import Identity, Received
from streamgauge.payload.header import RECORD_HEADER

_FIELDS = attrgetter("partition", "offset", "timestamp", "timestamp_type")
_VALUE, _KEY, _TOPIC = attrgetter("value"), attrgetter("key"), attrgetter("topic")


def received(
    batches: Iterable[list[Any]], carrier: Identity, topic_numbers: Mapping[str, int]
) -> Received | None:
    """`batches`: lists of records, each list of one partition."""
    records = [record for batch in batches for record in batch]
    if not records:
        return None
    table = np.array(list(map(_FIELDS, records)), np.int64)
    values = list(map(_VALUE, records))
    one_topic = len(topic_numbers) == 1
    return Received(
        values=[value or b"" for value in values] if None in values else values,
        carried=_carried(records, carrier),
        topics=0 if one_topic else np.array([topic_numbers[_TOPIC(r)] for r in records], np.int32),
        partitions=table[:, 0].astype(np.int32),
        offsets=table[:, 1],
        timestamps_ms=table[:, 2],
        # Theirs: 0 create time, 1 append time; ours begin with "none".
        timestamp_kind=np.where(table[:, 2] < 0, 0, table[:, 3] + 1).astype(np.int8),
    )


def _carried(records: list[Any], carrier: Identity) -> list[bytes | None] | None:
    if carrier == "value":
        return None
    if carrier in ("key", "ordinal"):
        return list(map(_KEY, records))
    return [dict(record.headers or ()).get(RECORD_HEADER) for record in records]
