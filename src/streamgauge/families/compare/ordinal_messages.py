"""Messages of one test of a comparison: ordinals as keys, values made beforehand, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.payload.making import Outgoing
from streamgauge.payload.ordinal import ORDINAL_BYTES, ordinal_keys, ordinals
from streamgauge.payload.reading import Packed

BATCH = 1000
_POOL_BYTES = 16 * 1024**2
"""Values repeat after that many bytes: all of a large test would not fit into memory."""


@dataclass(frozen=True)
class Count:
    """Messages by their ordinals."""

    seen: int
    """Of those expected, each counted once."""
    duplicate: int
    strange: int
    """Ordinals that nobody sent, or keys that are none."""


class OrdinalMessages:
    """Messages 0 … count − 1 of one length. Message i has the value `values[i % len(values)]`."""

    def __init__(self, length: int, count: int, seed: int) -> None:
        self.length, self.count = length, count
        kept = min(count, max(1, _POOL_BYTES // length))
        content = np.random.default_rng((seed, length)).bytes(kept * length)
        self.values = [content[n * length : (n + 1) * length] for n in range(kept)]

    def batches(self, most: int = BATCH, burst: int | None = None) -> list[Outgoing]:
        """All messages, ready to be sent; no batch reaches over the end of a burst of that length."""
        burst = burst or self.count
        return [
            self._batch(first, min(most, end - first))
            for begin in range(0, self.count, burst)
            for end in (min(begin + burst, self.count),)
            for first in range(begin, end, most)
        ]

    def _batch(self, first: int, count: int) -> Outgoing:
        values = [self.values[i % len(self.values)] for i in range(first, first + count)]
        return Outgoing(first, values, ordinal_keys(first, count), None)

    def primers(self, count: int) -> Outgoing:
        """Messages to warm a client with: their ordinals are below 0."""
        return Outgoing(-count, [self.values[0]] * count, ordinal_keys(-count, count), None)

    def wrong(self, values: list[bytes] | Packed, keys: list[bytes | None]) -> int:
        """How many records have another value than their ordinal's, or no such ordinal."""
        values = values.split() if isinstance(values, Packed) else values
        try:
            numbers = ordinals(keys)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return len(values)
        kept = len(self.values)
        wanted = [self.values[i] for i in (numbers % kept).tolist()]
        strange = (numbers < 0) | (numbers >= self.count)
        if values == wanted and not strange.any():
            return 0
        return sum(v != w or bool(s) for v, w, s in zip(values, wanted, strange, strict=True))

    def count_keys(self, batches: Iterable[list[bytes | None]]) -> Count:
        """What came, by the keys of all batches."""
        keys = [key for batch in batches for key in batch]
        known = [key for key in keys if key is not None and len(key) == ORDINAL_BYTES]
        found = self.count_ordinals(ordinals(known)) if known else Count(0, 0, 0)
        return Count(found.seen, found.duplicate, found.strange + len(keys) - len(known))

    def count_ordinals(self, numbers: NDArray[np.int64]) -> Count:
        ours = numbers[(numbers >= 0) & (numbers < self.count)]
        seen = len(np.unique(ours))
        return Count(seen, len(ours) - seen, len(numbers) - len(ours))
