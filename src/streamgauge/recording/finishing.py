"""Rows as they lie in memory → rows of an event table: what stands for "not known" becomes a null."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.tables.events import RECEIVES, SENDS


def finished_sends(columns: Mapping[str, Any]) -> dict[str, Any]:
    """In memory a partition or an offset below 0 and a time of 0 are not known."""
    partition, offset, acked_ns = columns["partition"], columns["offset"], columns["acked_ns"]
    return {
        **columns,
        "partition": known(partition, partition < 0),
        "offset": known(offset, offset < 0),
        "acked_ns": known(acked_ns, acked_ns == 0),
        "error": columns.get("error"),
    }


def finished_receives(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {**columns, "broker_ms": known(columns["broker_ms"], columns["broker_time"] == 0)}


FINISHED: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    SENDS.name: finished_sends,
    RECEIVES.name: finished_receives,
}
"""By table."""


def known(values: NDArray[Any], unknown: NDArray[np.bool_]) -> Any:
    """Nulls where unknown; where all are known it is the column itself, which nobody has to copy."""
    return np.ma.array(values, mask=unknown) if unknown.any() else values
