from __future__ import annotations

import threading

from streamgauge.drivers.fates import Fates


def tell(fates: Fates, delivered: list[tuple[int, int, int]]) -> None:
    for each in delivered:
        fates.delivered(each)


def test_what_was_told_in_another_thread_is_taken_in_one_batch() -> None:
    fates = Fates()
    fates.taken(1000)
    thread = threading.Thread(target=tell, args=(fates, [(n, n % 3, n * 2) for n in range(999)]))
    thread.start()
    thread.join(10)
    fates.failed(999, "too large")
    acks = fates.take(1)
    assert acks is not None
    assert acks.sequences.tolist() == list(range(1000))
    assert acks.partitions.tolist() == [n % 3 for n in range(999)] + [-1]  # type: ignore[union-attr]
    assert acks.offsets.tolist() == [n * 2 for n in range(999)] + [-1]
    assert acks.errors == {999: "too large"}
    assert fates.outstanding() == 0
    assert fates.take(0) is None


def test_nothing_is_lost_between_two_looks() -> None:
    fates, told = Fates(), 0
    fates.taken(20_000)
    thread = threading.Thread(target=tell, args=(fates, [(n, 0, n) for n in range(20_000)]))
    thread.start()
    while told < 20_000 and (acks := fates.take(5)) is not None:
        told += len(acks)
    thread.join(10)
    assert told == 20_000


def test_room_is_bounded_by_messages_and_by_bytes() -> None:
    fates = Fates(most_messages=100, most_bytes=1000)
    assert fates.room(1) == 100
    assert fates.room(50) == 20
    fates.taken(15)
    assert fates.room(10) == 5, "the largest message counts"
    fates.taken(5)
    assert fates.room(10) == 0


def test_one_message_may_always_be_outstanding() -> None:
    fates = Fates(most_bytes=1000)
    assert fates.room(5000) == 1
    fates.taken(1)
    assert fates.room(5000) == 0
