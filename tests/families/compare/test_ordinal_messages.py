from __future__ import annotations

import numpy as np

from streamgauge.families.compare.ordinal_messages import Count, OrdinalMessages
from streamgauge.payload.ordinal import ordinal_keys, ordinals


def test_keys_count_from_zero_and_values_have_their_length() -> None:
    messages = OrdinalMessages(10, 2500, seed=1)
    batches = messages.batches()
    assert [len(batch) for batch in batches] == [1000, 1000, 500]
    assert [batch.first_sequence for batch in batches] == [0, 1000, 2000]
    keys = [key for batch in batches for key in batch.keys or []]
    assert ordinals(keys).tolist() == list(range(2500))
    assert {len(value) for batch in batches for value in batch.values} == {10}
    assert len({value for batch in batches for value in batch.values}) > 2490


def test_large_values_repeat_so_that_memory_is_bounded() -> None:
    messages = OrdinalMessages(1_000_000, 10_000, seed=1)
    assert len(messages.values) == 16
    [first, *_] = messages.batches(most=20)
    assert first.values[17] is first.values[1]


def test_the_same_seed_makes_the_same_values() -> None:
    assert OrdinalMessages(10, 5, 1).values == OrdinalMessages(10, 5, 1).values
    assert OrdinalMessages(10, 5, 1).values != OrdinalMessages(10, 5, 2).values


def test_primers_are_below_zero() -> None:
    primers = OrdinalMessages(10, 5, 1).primers(3)
    assert primers.first_sequence == -3
    assert ordinals(primers.keys or []).tolist() == [-3, -2, -1]


def test_wrong_values_are_counted() -> None:
    messages = OrdinalMessages(10, 50, seed=1)
    [batch] = messages.batches()
    values: list[bytes] = list(batch.values)
    keys: list[bytes | None] = list(batch.keys or [])
    assert messages.wrong(values, keys) == 0
    values[3] = b"damaged..."
    assert messages.wrong(values, keys) == 1
    assert messages.wrong(values[:2], [keys[1], keys[0]]) == 2
    # A primer has a value of ours, but is none of the messages.
    assert messages.wrong([messages.values[0]], [*ordinal_keys(-1, 1)]) == 1
    assert messages.wrong([b"x"], [None]) == 1
    assert messages.wrong([b"x"], [b"no ordinal"]) == 1


def test_every_message_is_counted_once() -> None:
    messages = OrdinalMessages(10, 5, seed=1)
    batches: list[list[bytes | None]] = [
        [*ordinal_keys(0, 4)],
        [*ordinal_keys(2, 2), None, b"strange"],
        [*ordinal_keys(-1, 1)],
    ]
    assert messages.count_keys(batches) == Count(seen=4, duplicate=2, strange=3)
    assert messages.count_keys([]) == Count(0, 0, 0)
    assert messages.count_ordinals(np.array([0, 1, 1, 9])) == Count(2, 1, 1)
