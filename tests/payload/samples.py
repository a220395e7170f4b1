"""Messages of every kind, for the tests of making and of reading."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from streamgauge.payload.header import RECORD_HEADER
from streamgauge.payload.making import MessageMaker, Outgoing
from streamgauge.spec.load import Message

TAG = 0xC0FFEE


def _spec(size: Any, header_in: str, keys: Any, headers: dict[str, str]) -> Message:
    return Message.model_validate({"size": size, "header_in": header_in, "keys": keys, "headers": headers})


def _sizes(least: int) -> st.SearchStrategy[Any]:
    drawn = st.tuples(st.integers(least, 200), st.integers(0, 100)).map(
        lambda bounds: {"distribution": "uniform", "min": bounds[0], "max": sum(bounds)}
    )
    return st.one_of(st.integers(least, 300), drawn)


_keys = st.sampled_from([None, {"kind": "round_robin", "of": 7}, {"kind": "random", "of": 3}])
_headers = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text(max_size=5), max_size=2)

specs = st.one_of(
    st.builds(_spec, _sizes(32), st.just("value"), _keys.map(lambda keys: keys or {}), _headers),
    st.builds(_spec, _sizes(0), st.just("key"), st.just({}), _headers),
    st.builds(_spec, _sizes(0), st.just("headers"), _keys.map(lambda keys: keys or {}), _headers),
    st.builds(_spec, _sizes(0), st.just("auto"), _keys.map(lambda keys: keys or {}), _headers),
)


def made(message: Message, count: int, *, tag: int = TAG, producer: int = 0, first: int = 0) -> Outgoing:
    return MessageMaker(message, tag, producer).make(first, np.arange(count, dtype=np.int64) + 1000)


def carried(message: Message, batch: Outgoing) -> list[bytes | None] | None:
    """What a consumer is given beside the values."""
    if message.carrier == "key":
        assert batch.keys is not None
        return list(batch.keys)
    if message.carrier == "headers":
        assert batch.headers is not None
        return [dict(headers)[RECORD_HEADER] for headers in batch.headers]
    return None
