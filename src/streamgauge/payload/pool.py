"""The bodies of a case with their ready checksums, each behind the place where its header is written.

All producers of a process share one: a process may have a stream for each of a thousand partitions.
"""

from __future__ import annotations

import threading
from functools import cached_property, lru_cache

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from streamgauge.payload.bodies import make_bodies
from streamgauge.payload.checksum import body_sums
from streamgauge.payload.header import HEADER_BYTES, HEADER_WORDS
from streamgauge.spec.load import Message

_BATCH_LIMIT = 1024


class Pool:
    """Body k is in row k. The first rows stand behind the last ones again, so that any batch is one slice."""

    def __init__(self, message: Message, tag: int) -> None:
        bodies = make_bodies(message, default_rng(tag))
        self.count = len(bodies)
        self.batch_limit = min(self.count, _BATCH_LIMIT)
        sums, again = body_sums(bodies), slice(0, self.batch_limit)
        self.sums = np.concatenate([sums, sums[again]])
        bodies += bodies[again]
        sizes = np.fromiter(map(len, bodies), np.int64, len(bodies))
        self._is_carried = carried = message.carrier == "value"
        self.value_sizes: NDArray[np.int64] = sizes + (HEADER_BYTES if carried else 0)
        # With bodies of one size a header's value is made in place, whole.
        in_place = carried and bool((sizes == sizes[0]).all())
        width = HEADER_WORDS + (-(-int(sizes[0]) // 8) if in_place else 0)
        self.rows: NDArray[np.uint64] = np.zeros((len(bodies), width), "<u8")
        raw = self.rows.view(np.uint8)
        self.headers: NDArray[np.void] = raw[:, :HEADER_BYTES].view(f"V{HEADER_BYTES}")[:, 0]
        self.whole: NDArray[np.void] | None = None
        self.bodies = bodies
        if in_place:
            size = int(self.value_sizes[0])
            raw[:, HEADER_BYTES:size] = np.frombuffer(b"".join(bodies), np.uint8).reshape(
                len(bodies), size - HEADER_BYTES
            )
            self.whole = raw[:, :size].view(f"V{size}")[:, 0]
            self.bodies = []
        self._row_bytes, self._body_bytes = raw.shape[1], int(sizes[0])
        self._bytes = raw.reshape(-1).data
        self.lock = threading.Lock()
        """Held while headers are written and messages copied out."""

    def body_and_sum(self, number: int) -> tuple[bytes, int]:
        """One body, and what it adds to a checksum."""
        if self.whole is None:
            return self.bodies[number], int(self.sums[number])
        begin = number * self._row_bytes + HEADER_BYTES
        return self._bytes[begin : begin + self._body_bytes].tobytes(), int(self.sums[number])

    def packed(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """All bodies in one block, where each begins, and its size."""
        sizes = self.value_sizes[: self.count] - (HEADER_BYTES if self._is_carried else 0)
        if self.whole is not None:
            raw = self.rows[: self.count].view(np.uint8)
            starts = np.arange(self.count) * raw.shape[1] + HEADER_BYTES
            return raw.reshape(-1), starts, sizes
        return self._joined, np.cumsum(sizes) - sizes, sizes

    @cached_property
    def _joined(self) -> NDArray[np.uint8]:
        return np.frombuffer(b"".join(self.bodies[: self.count]), np.uint8)


def pool_of(message: Message, tag: int) -> Pool:
    """The one of this process; seeded by the case, so that a run can be made again."""
    return _made(message.model_dump_json(by_alias=True), tag)


@lru_cache(maxsize=1)
def _made(message: str, tag: int) -> Pool:
    return Pool(Message.model_validate_json(message), tag)
