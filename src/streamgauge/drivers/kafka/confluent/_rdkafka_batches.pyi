INTERFACE: int

Error = tuple[int, int, int, int, bytes]
"""Code, handle of the topic, partition, offset, and what librdkafka says of it."""
Columns = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes]
"""Values end to end; sizes, handles of topics, partitions, offsets, times and their kinds."""

def batch(message_timestamp: int, yield_: int) -> object: ...
def take(
    batch: object, consume: int, queue: int, most: int, timeout_ms: int
) -> tuple[tuple[Error, ...], Columns | None] | None: ...
