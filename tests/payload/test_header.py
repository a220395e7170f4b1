from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.payload.header import HEADER, HEADER_BYTES, sequences

from ..core.properties import untimed


def header(sequence: int) -> bytes:
    return np.array([(1, 2, sequence, 3, 4)], HEADER).tobytes()


def test_the_header_is_laid_out_as_its_description_says() -> None:
    raw = np.array([(0x01020304, 0x05060708, -2, 7, 2**64 - 1)], HEADER).tobytes()
    assert len(raw) == HEADER_BYTES
    assert raw == (
        bytes([4, 3, 2, 1, 8, 7, 6, 5])
        + (2**64 - 2).to_bytes(8, "little")
        + (7).to_bytes(8, "little")
        + b"\xff" * 8
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 2**63 - 1), st.one_of(st.binary(max_size=40), st.just(b"x" * 5000))),
        min_size=1,
        max_size=20,
    )
)
@untimed
def test_sequences_are_read_from_carriers_of_any_sizes(messages: list[tuple[int, bytes]]) -> None:
    carriers = [header(sequence) + rest for sequence, rest in messages]
    assert sequences(carriers).tolist() == [sequence for sequence, _ in messages]


def test_sizes_that_differ_but_average_out_are_not_taken_for_equal() -> None:
    carriers = [header(10) + b"x" * 8, header(11) + b"x" * 16, header(12)]
    assert sequences(carriers).tolist() == [10, 11, 12]
