"""The header in every message: who sent it, which one it is, when it was due, and a checksum.

    bytes  0–3   tag          marks the case, so that no other message is taken for one of its own
           4–7   producer     number of the producer
           8–15  sequence     the producer's count
          16–23  intended_ns  when the schedule wanted it sent
          24–31  checksum     over all the rest of the message (see checksum.py)

Little-endian. It stands at the start of the value, or is the key, or a record header.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamgauge.spec.load import MESSAGE_HEADER_BYTES

HEADER_BYTES = MESSAGE_HEADER_BYTES
HEADER_WORDS = HEADER_BYTES // 8
CHECKSUM_WORD = 3
RECORD_HEADER = "streamgauge"
"""Name of the record header, where that carries it."""

HEADER = np.dtype(
    [
        ("tag", "<u4"),
        ("producer", "<u4"),
        ("sequence", "<i8"),
        ("intended_ns", "<i8"),
        ("checksum", "<u8"),
    ]
)
assert HEADER.itemsize == HEADER_BYTES

_JOIN_BELOW_BYTES = 4096


def sequences(carriers: list[bytes], at: int = 8) -> NDArray[np.int64]:
    """The sequence numbers in a batch of one producer's own messages, given what carries their headers.

    `at`: where they stand in it; what is before them is the same in all.
    """
    size, count = len(carriers[0]), len(carriers)
    if size < _JOIN_BELOW_BYTES:
        joined = b"".join(carriers)
        if len(joined) == size * count:
            # Of one size, it seems: a strided view beats a slice a message. Were the sizes different
            # with the same sum, tag and producer would not stand where they should.
            owners = np.ndarray((count,), "<u8", joined, strides=(size,))
            if bool((owners == owners[0]).all()):
                return np.ndarray((count,), "<i8", joined, offset=at, strides=(size,))
    return np.frombuffer(b"".join([carrier[at : at + 8] for carrier in carriers]), "<i8")
