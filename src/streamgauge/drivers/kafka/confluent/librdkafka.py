"""The librdkafka that confluent-kafka has loaded, called without confluent-kafka.

It is not linked or shipped: functions are looked up in what the library's own module depends on.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from confluent_kafka import cimpl

_POINTER, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_FUNCTIONS: tuple[tuple[str, Any, list[Any]], ...] = (
    ("rd_kafka_queue_new", _POINTER, [_POINTER]),
    ("rd_kafka_queue_get_main", _POINTER, [_POINTER]),
    ("rd_kafka_queue_get_partition", _POINTER, [_POINTER, _TEXT, ctypes.c_int32]),
    ("rd_kafka_queue_forward", None, [_POINTER, _POINTER]),
    ("rd_kafka_queue_io_event_enable", None, [_POINTER, _INT, _POINTER, ctypes.c_size_t]),
    ("rd_kafka_queue_destroy", None, [_POINTER]),
    ("rd_kafka_topic_name", _TEXT, [_POINTER]),
    ("rd_kafka_conf_new", _POINTER, []),
    ("rd_kafka_conf_set", _INT, [_POINTER, _TEXT, _TEXT, _TEXT, ctypes.c_size_t]),
    ("rd_kafka_conf_set_events", None, [_POINTER, _INT]),
    ("rd_kafka_conf_destroy", None, [_POINTER]),
    ("rd_kafka_new", _POINTER, [_INT, _POINTER, _TEXT, ctypes.c_size_t]),
    ("rd_kafka_set_log_queue", _INT, [_POINTER, _POINTER]),
    ("rd_kafka_topic_new", _POINTER, [_POINTER, _TEXT, _POINTER]),
    ("rd_kafka_topic_destroy", None, [_POINTER]),
    ("rd_kafka_metadata", _INT, [_POINTER, _INT, _POINTER, ctypes.POINTER(_POINTER), _INT]),
    ("rd_kafka_metadata_destroy", None, [_POINTER]),
    ("rd_kafka_err2str", _TEXT, [_INT]),
    ("rd_kafka_outq_len", _INT, [_POINTER]),
    ("rd_kafka_flush", _INT, [_POINTER, _INT]),
    ("rd_kafka_purge", _INT, [_POINTER, _INT]),
    ("rd_kafka_destroy", None, [_POINTER]),
)


@cache
def library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(cimpl.__file__)
    for name, result, arguments in _FUNCTIONS:
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def address_of(function: str) -> int:
    """For compiled code that calls it."""
    address = ctypes.cast(getattr(library(), function), ctypes.c_void_p).value
    assert address is not None
    return address


def error_words(code: int) -> str:
    return str(library().rd_kafka_err2str(code).decode())
