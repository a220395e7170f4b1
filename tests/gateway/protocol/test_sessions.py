from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.sessions import NotRecoverable, Progress
from streamgauge.gateway.protocol.streams import Stream, Touched

from ...core.properties import untimed


def stream(recovery_bytes: int = 10**6, lines: int = 0) -> Stream:
    made = Stream(Touched(), limit_bytes=10**6, recovery_bytes=recovery_bytes)
    send(made, *[b"before %d" % n for n in range(lines)])
    return made


def send(sends: Stream, *lines: bytes) -> None:
    sends.announce(*lines)
    sends.take()


def test_a_session_counts_its_own_lines_wherever_its_stream_stands() -> None:
    progress = Progress(stream(lines=5))
    assert progress.count == 0
    send(progress.stream, b"a", b"b")
    assert progress.count == 2
    assert progress.lines_after(0) == [b"a", b"b"]
    assert progress.lines_after(1) == [b"b"]
    assert progress.lines_after(2) == []


@pytest.mark.parametrize("count", [-1, 3])
def test_lines_never_sent_cannot_be_recovered(count: int) -> None:
    progress = Progress(stream())
    send(progress.stream, b"a", b"b")
    with pytest.raises(NotRecoverable):
        progress.lines_after(count)


def test_lines_not_held_any_more_cannot_be_recovered() -> None:
    progress = Progress(stream(recovery_bytes=3))
    send(progress.stream, b"aa", b"bb")
    assert progress.lines_after(1) == [b"bb"]
    with pytest.raises(NotRecoverable):
        progress.lines_after(0)


def test_lines_of_the_stream_before_are_remembered_for_a_while() -> None:
    progress = Progress(stream())
    send(progress.stream, b"a", b"b")
    shared = stream(lines=7)
    progress.change(shared, now_ns=100)
    assert progress.count == 2
    send(shared, b"c")
    assert progress.count == 3
    assert progress.lines_after(0) == [b"a", b"b", b"c"]
    assert progress.lines_after(2) == [b"c"]
    progress.forget(before_ns=100)
    assert progress.has_past
    progress.forget(before_ns=101)
    assert not progress.has_past
    assert progress.lines_after(2) == [b"c"]
    with pytest.raises(NotRecoverable):
        progress.lines_after(1)  # The shared stream holds older lines, but they were not this session's.


@given(
    st.lists(st.one_of(st.just("line"), st.just("change"), st.just("other"), st.just("back")), max_size=30),
    st.data(),
)
@untimed
def test_any_way_through_streams_can_be_recovered(steps: list[str], data: st.DataObject) -> None:
    streams = [stream(), stream(lines=3)]
    progress, got = Progress(streams[0]), list[bytes]()
    for number, step in enumerate(steps):
        if step == "line":
            got.append(b"%d" % number)
            send(progress.stream, got[-1])
        elif step == "other":
            send(next(s for s in streams if s is not progress.stream), b"not ours")
        elif step == "back":
            progress.change(data.draw(st.sampled_from(streams)), number)
        else:
            streams.append(stream(lines=number))
            progress.change(streams[-1], number)
    assert progress.count == len(got)
    for count in range(len(got) + 1):
        assert progress.lines_after(count) == got[count:]
