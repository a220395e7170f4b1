from __future__ import annotations

import struct

import pytest

from streamgauge.payload.ordinal import ordinal_keys, ordinals


def test_a_key_is_the_integer_that_kafkas_own_serializer_writes() -> None:
    assert ordinal_keys(257, 2) == [struct.pack(">i", 257), struct.pack(">i", 258)]
    assert ordinal_keys(0, 0) == []


def test_what_was_written_is_read_back() -> None:
    assert ordinals(ordinal_keys(2**31 - 5, 5)).tolist() == list(range(2**31 - 5, 2**31))


def test_other_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="no ordinals"):
        ordinals([b"\0\0\0\1", b"key-1"])
