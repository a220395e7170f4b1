"""Producing through librdkafka in a compiled loop: made, paced, stamped and told of beneath Python.

`producer.RdkafkaProducer` is its twin, and what is used where this cannot be: without the compiled loops,
with record headers or transactions, and where the target asks for `send: objects`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.core.errors import CaseFailed
from streamgauge.drivers.contract import UNKNOWN, Acks, PacedProducer, ProducerOptions, SharedSetting
from streamgauge.drivers.kafka.confluent.librdkafka import error_words
from streamgauge.drivers.kafka.confluent.own_client import OwnClient, takes
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.drivers.kafka.topics import LOGGER
from streamgauge.native.loading import compiled_loops
from streamgauge.payload.making import Ingredients, Outgoing

_ACKS_AT_ONCE, _ACKS_OF_A_STREAM = 16_384, 1024
"""A process may have a producer for each of a thousand partitions."""
_QUEUE_FULL = -184
_FULL = 3
"""As native/sender.h has it: why the loop stopped."""
_FLUSH_MS = 1
SPIN_SHARE = 50
"""Thousandths of a core that a loop may spend on looking at the clock before messages are due."""
_CLOSE_DEADLINE_S = 5.0
_KEYS_AT_ONCE = 1024
_OF_A_ROW = ("topic", "size_bytes", "intended_ns", "sent_ns", "acked_ns")
_LEVELS = {7: logging.DEBUG, 6: logging.INFO, 5: logging.INFO, 4: logging.WARNING, 3: logging.ERROR}
"""Syslog's levels, as librdkafka has them."""


def native_producer(
    settings: ClientSettings, options: ProducerOptions, messages: Ingredients, spin_us: int = 0
) -> PacedProducer | None:
    """None: these messages cannot be sent so."""
    if compiled_loops() is None or options.transactional_id is not None or not takes(settings.native):
        return None
    return NativeProducer(settings, options, messages, spin_us)


class NativeProducer(PacedProducer):
    def __init__(
        self, settings: ClientSettings, options: ProducerOptions, messages: Ingredients, spin_us: int = 0
    ) -> None:
        self._settings, self._options, self._messages = settings, options, messages
        self._spin_us = spin_us
        self._loops: Any = compiled_loops()
        own = {} if options.completions else {"delivery.report.only.error": True}
        numbers = range(len(options.topics)) if options.place is None else [options.place[0]]
        self._places = {number: place for place, number in enumerate(numbers)}
        self._client = OwnClient({**settings.native, **own}, options.number)
        try:
            self._client.open_topics(options.topics[number] for number in numbers)
            room = _ACKS_AT_ONCE if options.place is None else _ACKS_OF_A_STREAM
            widths = (np.int64, np.int32, np.int64, np.int64, np.int32)
            self._acks: tuple[Any, ...] = tuple(np.zeros(room, width) for width in widths)
            """Sequence, partition, offset, when it was told, and why it was not delivered."""
            self._sender = self._made(list(numbers))
        except BaseException:
            self._client.close()
            raise
        self._using = threading.Lock()
        """Held while the loop runs: a client that goes away meanwhile would take the process along."""
        self._is_closed = self._flushing = False
        self._keys_first, self._key_numbers = 0, np.zeros(0, np.int64)

    def _made(self, numbers: list[int]) -> object:
        messages, client = self._messages, self._client
        key_sizes = np.fromiter(map(len, messages.keys), np.int64, len(messages.keys))
        pool = (
            messages.bodies,
            messages.starts,
            messages.sizes,
            messages.sums,
            np.frombuffer(b"".join(messages.keys), np.uint8),
            np.concatenate([[0], np.cumsum(key_sizes)]),
        )
        sender: object = self._loops.sender(
            client.functions,
            client.queue,
            client.wake_fd,
            messages.owner,
            messages.in_key,
            -1 if self._options.place is None else self._options.place[1],
            tuple(zip(client.topics, numbers, strict=True)),
            pool,
            self._acks,
            (1000 * self._spin_us, SPIN_SHARE),
        )
        return sender

    def send_due(
        self,
        first_sequence: int,
        count: int,
        due_ns: NDArray[np.int64] | None,
        columns: Mapping[str, NDArray[Any]],
        until_ns: int,
        *,
        waits: bool,
    ) -> int:
        keys = self._keys_of(first_sequence, count) if self._messages.keys else None
        if keys is not None:
            count = len(keys)
        rows = tuple(columns[name] for name in _OF_A_ROW)
        with self._using:
            self._check_open()
            self._flushing = False
            sent, outcome = self._loops.send(
                self._sender, first_sequence, count, due_ns, keys, rows, until_ns, waits
            )
        self.is_full = outcome == _FULL
        return int(sent)

    def _keys_of(self, first_sequence: int, count: int) -> NDArray[np.int64]:
        """At most so many; each message's is drawn once, however often it takes to send it."""
        place = first_sequence - self._keys_first
        if not 0 <= place < len(self._key_numbers):
            self._keys_first, place = first_sequence, 0
            self._key_numbers = self._messages.key_numbers(first_sequence, _KEYS_AT_ONCE)
        return self._key_numbers[place : place + count]

    def send(self, batch: Outgoing, topic: int) -> int:
        """One by one: for the few messages that are not paced."""
        if batch.headers is not None:
            raise NotImplementedError("messages with record headers are sent by the other producer")
        keys: list[Any] = batch.keys or [None] * len(batch)
        with self._using:
            self._check_open()
            self._flushing = False
            for sent, (value, key) in enumerate(zip(batch.values, keys, strict=True)):
                code = self._loops.send_one(self._sender, self._places[topic], value, key)
                if code == _QUEUE_FULL:
                    return sent
                if code:
                    raise CaseFailed(f"producer {self._options.number}: {error_words(code)}")
        return len(batch)

    def poll(self, timeout_s: float) -> Acks | None:
        with self._using:
            self._check_open()
            if self._flushing:
                self._flush(timeout_s)
            else:
                self._loops.poll(self._sender, int(timeout_s * 1000))
            count, notes = self._loops.told(self._sender)
            sequences, partitions, offsets, told_ns, codes = (column[:count].copy() for column in self._acks)
        for level, words in notes:
            LOGGER.log(_LEVELS.get(level, logging.ERROR), words)
        if not count:
            return None
        if self._options.acks == "0":
            offsets[:] = UNKNOWN
        failed = np.flatnonzero(codes)
        errors = {int(sequences[row]): error_words(int(codes[row])) for row in failed}
        return Acks(sequences, partitions, offsets, errors, told_ns)

    def _flush(self, timeout_s: float) -> None:
        """librdkafka lingers no more while a flush lasts; a short one, so that acks are told in time."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._client.flush(_FLUSH_MS)
            self._loops.poll(self._sender, 0)
            taken, known, untold, _ = self._loops.counts(self._sender)
            if untold or known == taken or time.monotonic() >= deadline:
                return

    def outstanding(self) -> int:
        if not self._options.completions:
            return 0 if self._is_closed else self._client.waiting()
        taken, known, untold, _ = self._loops.counts(self._sender)
        return int(taken - known + untold)

    def flush_soon(self) -> None:
        self._flushing = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise CaseFailed(f"producer {self._options.number} was closed while it was used")

    def settings_in_force(self) -> dict[str, Any]:
        return {**self._settings.untold(), "loop": "native", "spin_us": self._spin_us}

    def counters(self) -> dict[str, int]:
        spun_ns = self._loops.counts(self._sender)[3]
        return {"spun_us": spun_ns // 1000} if spun_ns else {}

    def shared_settings(self) -> list[SharedSetting]:
        return self._settings.shared()

    def close(self) -> None:
        if not self._using.acquire(timeout=_CLOSE_DEADLINE_S):
            return
        try:
            if not self._is_closed:
                self._is_closed = True
                self._loops.close(self._sender)
                self._client.close()
        finally:
            self._using.release()
