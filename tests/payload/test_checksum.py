from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamgauge.payload.checksum import body_sums, header_sums, weights
from streamgauge.payload.header import CHECKSUM_WORD, HEADER_WORDS

from ..core.properties import untimed

MASK = 2**64 - 1
bodies = st.binary(max_size=200)
words = st.integers(0, MASK)
HIGH = st.sampled_from([1 << 63, 1 << 62, 0xFF << 56, 0x80808080 << 32, 0x8080808080808080])


def sum_of(body: bytes) -> int:
    return int(body_sums([body])[0])


def slow_sum(body: bytes) -> int:
    """The definition, in whole numbers, one word after the other."""
    total = len(body) * 0x9E3779B97F4A7C15
    count = -(-len(body) // 8)
    for place, weight in enumerate(weights(HEADER_WORDS + count)[HEADER_WORDS:].tolist()):
        word = int.from_bytes(body[8 * place : 8 * place + 8].ljust(8, b"\0"), "little")
        total += (word ^ word >> 29) * weight
    return total & MASK


def joined(numbers: list[int]) -> bytes:
    return np.array(numbers, "<u8").tobytes()


@given(st.lists(bodies, min_size=1, max_size=10))
@untimed
def test_a_batch_of_any_sizes_has_the_sums_of_its_bodies(batch: list[bytes]) -> None:
    assert body_sums(batch).tolist() == [slow_sum(body) for body in batch]


@given(st.binary(min_size=1, max_size=300), st.data())
@untimed
def test_any_flipped_bit_is_noticed(body: bytes, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, 8 * len(body) - 1))
    flipped = bytearray(body)
    flipped[bit // 8] ^= 1 << bit % 8
    assert sum_of(bytes(flipped)) != sum_of(body)


@given(st.lists(words, min_size=1, max_size=30), words, st.data())
@untimed
def test_any_changed_word_is_noticed(numbers: list[int], other: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(numbers) - 1))
    assume(numbers[place] != other)
    changed = [*numbers[:place], other, *numbers[place + 1 :]]
    assert sum_of(joined(changed)) != sum_of(joined(numbers))


@given(st.lists(words, min_size=2, max_size=30), st.data())
@untimed
def test_two_words_that_change_places_are_noticed(numbers: list[int], data: st.DataObject) -> None:
    first, second = sorted(data.draw(st.sets(st.integers(0, len(numbers) - 1), min_size=2, max_size=2)))
    assume(numbers[first] != numbers[second])
    swapped = list(numbers)
    swapped[first], swapped[second] = numbers[second], numbers[first]
    assert sum_of(joined(swapped)) != sum_of(joined(numbers))


@given(st.lists(words, min_size=2, max_size=30), HIGH, st.data())
@untimed
def test_the_same_high_bits_flipped_in_two_words_are_noticed(
    numbers: list[int], mask: int, data: st.DataObject
) -> None:
    places = data.draw(st.sets(st.integers(0, len(numbers) - 1), min_size=2, max_size=2))
    flipped = [number ^ mask if place in places else number for place, number in enumerate(numbers)]
    assert sum_of(joined(flipped)) != sum_of(joined(numbers))


def test_words_of_text_that_differ_in_their_last_letter_cannot_change_places() -> None:
    count = 200
    for letter in b"bcdefghijklmnop":
        lines = [b"aaaaaaaa"] * count
        lines[0] = b"aaaaaaa" + bytes([letter])
        original = sum_of(b"".join(lines))
        for place in range(1, count):
            swapped = list(lines)
            swapped[0], swapped[place] = lines[place], lines[0]
            assert sum_of(b"".join(swapped)) != original


@given(st.binary(min_size=1, max_size=300), st.data())
@untimed
def test_any_truncation_is_noticed_even_of_zeros(body: bytes, data: st.DataObject) -> None:
    body += b"\0" * data.draw(st.integers(0, 20))
    kept = data.draw(st.integers(0, len(body) - 1))
    assert sum_of(body[:kept]) != sum_of(body)
    assert sum_of(body + b"\0") != sum_of(body)


@given(st.lists(words, min_size=HEADER_WORDS, max_size=HEADER_WORDS), words, st.integers(0, HEADER_WORDS - 1))
@untimed
def test_every_word_of_the_header_counts_but_the_checksums_own(
    header: list[int], other: int, place: int
) -> None:
    assume(header[place] != other)
    changed = [*header[:place], other, *header[place + 1 :]]
    sums = header_sums(np.array([header, changed], np.uint64)).tolist()
    assert (sums[0] == sums[1]) == (place == CHECKSUM_WORD)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 1000])
def test_weights_are_odd_all_different_and_cannot_be_changed(count: int) -> None:
    there = weights(count)
    kept = np.delete(there, CHECKSUM_WORD) if count > CHECKSUM_WORD else there
    assert bool((kept % 2 == 1).all())
    assert len(np.unique(kept)) == len(kept)
    assert weights(count + 1)[:count].tolist() == there.tolist()
    with pytest.raises(ValueError, match="read-only"):
        there[0] = 1
