INTERFACE: int

Error = tuple[int, int, int, int, bytes]
"""Code, handle of the topic, partition, offset, and what librdkafka says of it."""
Columns = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes]
"""Values end to end; sizes, handles of topics, partitions, offsets, times and their kinds."""

def batch(message_timestamp: int, yield_: int) -> object: ...
def take(
    batch: object, consume: int, queue: int, most: int, timeout_ms: int
) -> tuple[tuple[Error, ...], Columns | None] | None: ...
def rows(functions: tuple[int, int, int, int], queue: int, tag: int) -> object:
    """`functions`: rd_kafka_consume_callback_queue, _message_timestamp, _yield; a clock (0: the usual)."""

def take_rows(
    rows: object, most: int, timeout_ms: int, linger_ms: int, columns: tuple[object, ...]
) -> tuple[int, tuple[Error, ...]]:
    """`linger_ms`: how long to go on once something has come, while there is room."""

def sender(
    functions: tuple[int, ...],
    queue: int,
    wake_fd: int,
    owner: int,
    in_key: bool,
    partition: int,
    topics: tuple[tuple[int, int], ...],
    pool: tuple[object, ...],
    acks: tuple[object, ...],
    spin: tuple[int, int],
) -> object:
    """`functions`: rd_kafka_produce, _last_error, _queue_poll, _event_type, _event_message_next,
    _event_destroy, _event_error_string, _event_log, and a clock (0: the usual one). `spin`: ns before a due
    time, and thousandths of a core at the most."""

def send(
    sender: object,
    first_sequence: int,
    most: int,
    due_ns: object | None,
    key_numbers: object | None,
    columns: tuple[object, ...],
    until_ns: int,
    waits: bool,
) -> tuple[int, int]: ...
def send_one(sender: object, topic: int, value: bytes, key: bytes | None) -> int: ...
def poll(sender: object, timeout_ms: int) -> None: ...
def told(sender: object) -> tuple[int, tuple[tuple[int, str], ...]]: ...
def counts(sender: object) -> tuple[int, int, int, int]: ...
def close(sender: object) -> None: ...
def pacer(rate_per_s: float, room: int) -> object: ...
def pacer_stop(pacer: object) -> tuple[int, int, bytes]:
    """When the first kept was due, ns between two, how late each was as int64s."""

def message(owner: int, sequence: int, intended_ns: int, body: bytes, body_sum: int) -> bytes: ...
def identify(value: bytes, tag: int) -> tuple[int, int, int, int]: ...
def checksum(header: bytes, body: bytes) -> int: ...

Told = tuple[int, int, int, bytes]
"""Of which session, what (swarm.h), when it came (0: not asked), and its bytes."""

def swarm(
    counts: tuple[object],
    count: int,
    field: int,
    fields: int,
    most_message_bytes: int,
    most_told_bytes: int,
) -> object:
    """`field`: which one of the fields of an update has its time."""

def swarm_add(swarm: object, place: int, fd: int, joined_mode: int, received: bytes) -> None: ...
def swarm_drop(swarm: object, place: int) -> None: ...
def swarm_serve(
    swarm: object, until_ns: int, most_rows: int, columns: tuple[object, object, object]
) -> tuple[int, tuple[Told, ...]]: ...
def swarm_fd(swarm: object) -> int: ...
def swarm_close(swarm: object) -> None: ...
def broadcast(sockets: list[int], data: bytes) -> list[tuple[int, int]]: ...
