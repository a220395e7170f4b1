"""Messages without a header: the key is the message's ordinal, the value is free.

The ordinal is written as Kafka's IntegerSerializer does, 4 bytes big-endian, so that a client of any
language sees an integer. It says which message it is and no more: where every byte counts as a part of
what is measured, there is no room for id, time and checksum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ORDINAL_BYTES = 4
_ORDINAL = ">i4"


def ordinal_keys(first: int, count: int) -> list[bytes]:
    """Keys of the messages `first` …, ready to be sent."""
    keys: list[bytes] = np.arange(first, first + count).astype(_ORDINAL).view("V4").tolist()
    return keys


def ordinals(keys: list[bytes]) -> NDArray[np.int64]:
    """What `ordinal_keys` wrote; ValueError when something else is among them."""
    joined = b"".join(keys)
    if len(joined) != ORDINAL_BYTES * len(keys):
        raise ValueError("keys that are no ordinals")
    return np.frombuffer(joined, _ORDINAL).astype(np.int64)
