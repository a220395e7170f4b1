from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from streamgauge.recording import background
from streamgauge.recording.background import BackgroundWriter

HOLD = 100
PATIENCE_S = 60.0
"""Only a writer that hangs waits as long."""


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[BackgroundWriter]:
    monkeypatch.setattr(background, "HOLD_BYTES", HOLD)
    made = BackgroundWriter()
    yield made
    if made._failure is None:
        made.close()


class Chunks:
    """What has been written, in order; writing can be held up."""

    def __init__(self, writer: BackgroundWriter) -> None:
        self._writer = writer
        self._news = threading.Condition()
        self.written: list[int] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def put(self, number: int, size_bytes: int = 10, *, soon: bool = False) -> None:
        def write() -> None:
            assert self.may_go_on.wait(PATIENCE_S)
            with self._news:
                self.written.append(number)
                self._news.notify_all()

        self._writer.put(size_bytes, write, soon)

    def wait_for(self, written: list[int]) -> bool:
        with self._news:
            return self._news.wait_for(lambda: self.written == written, PATIENCE_S)


@pytest.fixture
def chunks(writer: BackgroundWriter) -> Chunks:
    return Chunks(writer)


def fail() -> None:
    raise RuntimeError("the disk is on fire")


def test_a_chunk_wanted_soon_is_written_at_once(chunks: Chunks) -> None:
    chunks.put(1, soon=True)
    assert chunks.wait_for([1])


def test_chunks_that_can_wait_are_written_at_the_end_in_order(
    writer: BackgroundWriter, chunks: Chunks
) -> None:
    for number in range(5):
        chunks.put(number)
    assert not chunks.written
    writer.close()
    assert chunks.written == [0, 1, 2, 3, 4]


def test_a_chunk_wanted_soon_takes_those_before_it_along(chunks: Chunks) -> None:
    chunks.put(1)
    chunks.put(2)
    chunks.put(3, soon=True)
    assert chunks.wait_for([1, 2, 3])


def test_past_the_limit_chunks_are_written_without_being_asked(chunks: Chunks) -> None:
    chunks.put(1, HOLD // 2)
    chunks.put(2, HOLD // 2)
    assert not chunks.written
    chunks.put(3, 1)
    assert chunks.wait_for([1, 2, 3])


def test_at_twice_the_limit_the_caller_has_to_wait(chunks: Chunks) -> None:
    chunks.may_go_on.clear()
    chunks.put(1, 2 * HOLD)
    waiting = threading.Thread(target=chunks.put, args=(2, 1))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive(), "more than twice the limit would be held"
    chunks.may_go_on.set()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    assert chunks.wait_for([1, 2])


def test_a_failure_is_raised_to_whoever_puts_or_closes(writer: BackgroundWriter, chunks: Chunks) -> None:
    writer.put(1, fail, soon=True)
    writer._thread.join(PATIENCE_S)
    with pytest.raises(RuntimeError, match="on fire"):
        chunks.put(1)
    with pytest.raises(RuntimeError, match="on fire"):
        writer.close()


def test_a_failure_at_the_very_end_is_raised_too(writer: BackgroundWriter) -> None:
    writer.put(1, fail, soon=False)
    with pytest.raises(RuntimeError, match="on fire"):
        writer.close()


def test_a_failure_lets_go_of_a_caller_that_waits_for_room(writer: BackgroundWriter, chunks: Chunks) -> None:
    go_on = threading.Event()

    def fail_later() -> None:
        assert go_on.wait(PATIENCE_S)
        fail()

    writer.put(2 * HOLD, fail_later, soon=True)
    waiting = threading.Thread(target=chunks.put, args=(2, 1))
    waiting.start()
    go_on.set()
    waiting.join(PATIENCE_S)
    assert not waiting.is_alive()
    with pytest.raises(RuntimeError, match="on fire"):
        writer.close()


def test_writing_that_never_ends_is_given_up(
    writer: BackgroundWriter, chunks: Chunks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_CLOSE_DEADLINE_S", 0.05)
    chunks.may_go_on.clear()
    chunks.put(1)
    with pytest.raises(TimeoutError, match="could not be written within"):
        writer.close()
    chunks.may_go_on.set()
    assert chunks.wait_for([1])
