"""A producer of librdkafka's that is ours alone: delivery reports come as events, to nobody's callback.

confluent-kafka's own cannot be used beneath Python: it serves reports by a callback that takes what stands
beside a message for an object of its own.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Any

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.kafka.confluent.librdkafka import address_of, error_words, library

_PRODUCER = 0
_EVENTS = 0x1 | 0x4 | 0x8
"""Delivery reports, logs and errors."""
_PURGE_ALL = 0x1 | 0x2
_WORDS_BYTES = 512
_TOPIC_DEADLINE_MS = 15_000
_IN_LOOPS = (
    "rd_kafka_produce",
    "rd_kafka_last_error",
    "rd_kafka_queue_poll",
    "rd_kafka_event_type",
    "rd_kafka_event_message_next",
    "rd_kafka_event_destroy",
    "rd_kafka_event_error_string",
    "rd_kafka_event_log",
)
_USUAL_CLOCK = 0
_WAKE = ctypes.c_uint64(1)
"""What is written to the file descriptor when something has come."""


def takes(settings: Mapping[str, Any]) -> bool:
    """Whether all of them are such as librdkafka takes by itself: words and numbers, no functions of Python,
    and no tokens but such as it fetches itself."""
    by_token = "OAUTHBEARER" in (settings.get("sasl.mechanism"), settings.get("sasl.mechanisms"))
    fetches = str(settings.get("sasl.oauthbearer.method")).lower() == "oidc"
    if by_token and not fetches:
        return False
    return all(isinstance(value, (str, int, float)) for value in settings.values())


class OwnClient:
    """librdkafka's handle, its topics and its queue; closed by whoever made it, in the same process."""

    def __init__(self, settings: Mapping[str, Any], producer: int) -> None:
        self._library, self._producer, self._pid = library(), producer, os.getpid()
        self.functions = (*map(address_of, _IN_LOOPS), _USUAL_CLOCK)
        """As the compiled loop wants them."""
        self.topics: list[int] = []
        self._handle = self._made({**settings, "log.queue": True})
        self._library.rd_kafka_set_log_queue(self._handle, None)
        self.queue = self._library.rd_kafka_queue_get_main(self._handle)
        self.wake_fd = -1
        if hasattr(os, "eventfd"):
            self.wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            self._library.rd_kafka_queue_io_event_enable(
                self.queue, self.wake_fd, ctypes.byref(_WAKE), ctypes.sizeof(_WAKE)
            )

    def _made(self, settings: Mapping[str, Any]) -> int:
        words = ctypes.create_string_buffer(_WORDS_BYTES)
        conf = self._library.rd_kafka_conf_new()
        for name, value in settings.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if self._library.rd_kafka_conf_set(conf, name.encode(), text.encode(), words, _WORDS_BYTES):
                self._library.rd_kafka_conf_destroy(conf)
                raise _refused(words)
        self._library.rd_kafka_conf_set_events(conf, _EVENTS)
        handle = self._library.rd_kafka_new(_PRODUCER, conf, words, _WORDS_BYTES)
        if not handle:
            self._library.rd_kafka_conf_destroy(conf)
            raise _refused(words)
        return int(handle)

    def open_topics(self, names: Iterable[str]) -> None:
        """Unreachable unless brokers tell of them."""
        for name in names:
            self.topics.append(self._library.rd_kafka_topic_new(self._handle, name.encode(), None))
            found = ctypes.c_void_p()
            code = self._library.rd_kafka_metadata(
                self._handle, 0, self.topics[-1], ctypes.byref(found), _TOPIC_DEADLINE_MS
            )
            if code:
                raise Unreachable(f"producer {self._producer}: {error_words(code)}")
            self._library.rd_kafka_metadata_destroy(found)

    def waiting(self) -> int:
        """Messages and events that are still with librdkafka."""
        return int(self._library.rd_kafka_outq_len(self._handle))

    def flush(self, timeout_ms: int) -> None:
        """Hold nothing back for so long; reports stay where they are."""
        self._library.rd_kafka_flush(self._handle, timeout_ms)

    def close(self) -> None:
        """What was not sent by now is not sent. In a process that was forked nothing of it is alive."""
        if not self._handle or self._pid != os.getpid():
            return
        self._library.rd_kafka_purge(self._handle, _PURGE_ALL)
        for topic in self.topics:
            self._library.rd_kafka_topic_destroy(topic)
        self._library.rd_kafka_queue_destroy(self.queue)
        self._library.rd_kafka_destroy(self._handle)
        if self.wake_fd >= 0:
            os.close(self.wake_fd)
        self._handle, self.topics = 0, []


def _refused(words: ctypes.Array[ctypes.c_char]) -> BadInput:
    return BadInput(f"target: client: {words.value.decode(errors='replace')}")
