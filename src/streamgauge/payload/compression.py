"""By how much a codec makes a sample of messages smaller: what was asked for is one thing, what it finds in
them another. What a client reaches depends on its batches, too: of a single message it finds less."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from streamgauge.payload.messages import maker_of
from streamgauge.spec.load import Message

_SAMPLE_COUNT = 1000
_SAMPLE_BYTES = 1024 * 1024
"""As much as a batch of Kafka holds at the most, by default."""


def compression_ratio(message: Message, tag: int, codec: str) -> float | None:
    """Of the values of a case's first messages, together as one full batch; None without a codec."""
    if codec == "none":
        return None
    maker = maker_of(message, tag, 0)
    ends = np.cumsum(maker.sizes(0, min(_SAMPLE_COUNT, maker.batch_limit)))
    count = max(1, int(np.searchsorted(ends, _SAMPLE_BYTES, side="right")))
    joined = b"".join(maker.make(0, np.arange(count, dtype=np.int64) * 1_000_000).values)
    return len(joined) / len(pa.Codec(codec).compress(joined, asbytes=True)) if joined else None
