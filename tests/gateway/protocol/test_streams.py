from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.commands import UNFILTERED, UNLIMITED, Frequency
from streamgauge.gateway.protocol.events import view
from streamgauge.gateway.protocol.feeds import Feed, new_feed
from streamgauge.gateway.protocol.streams import Stream, Touched
from streamgauge.gateway.protocol.subscriptions import Plan, interned
from streamgauge.gateway.protocol.updates import Diffing
from tests.proof import tries

from .clients import Client

S = 1_000_000_000
FIELDS = ("n", "same")


def feed(mode: str = "MERGE", *, snapshot_expected: bool = False) -> Feed:
    return new_feed(mode, snapshot_expected=snapshot_expected, remembered=10)  # type: ignore[arg-type]


def plan(*feeds: Feed, mode: str = "MERGE", sub_id: int = 1, frequency: Frequency = UNLIMITED) -> Plan:
    fields = ("key", "command", "n") if mode == "COMMAND" else FIELDS
    kept = 1 if mode == "MERGE" else None
    return interned(Plan(sub_id, mode, feeds, view(fields, Diffing()), frequency, kept, 100))  # type: ignore[arg-type]


def stream(*, limit_bytes: int = 10**6, touched: Touched | None = None) -> Stream:
    return Stream(Touched() if touched is None else touched, limit_bytes=limit_bytes, recovery_bytes=10**6)


def publish(item: Feed, *numbers: object, now_ns: int = 0) -> None:
    for number in numbers:
        item.publish({"n": str(number), "same": "x"}, now_ns)


def put(item: Feed, key: str, command: str, n: object = None, now_ns: int = 0) -> None:
    item.publish({"key": key, "command": command, "n": None if n is None else str(n)}, now_ns)


def test_a_subscription_is_announced_then_come_its_updates() -> None:
    item, sends, client = feed(), stream(), Client()
    sends.subscribe(plan(item), snapshot=False)
    publish(item, 1, 2)
    lines = sends.take()
    assert lines == [b"SUBOK,1,1,2\r\n", b"CONF,1,unlimited,filtered\r\n", b"U,1,1,1|x\r\n", b"U,1,1,2|\r\n"]
    client.read(lines)
    assert client.count == sends.count == 4


def test_a_newcomer_to_a_merge_item_gets_what_it_is() -> None:
    item = feed()
    first = stream()
    first.subscribe(plan(item), snapshot=False)
    publish(item, 1, 2)
    late = stream()
    late.subscribe(plan(item), snapshot=True)
    assert late.take()[2:] == [b"U,1,1,2|x\r\n"]
    publish(item, 3)
    assert late.take() == [b"U,1,1,3|\r\n"]


def test_a_newcomer_that_wants_no_snapshot_gets_the_next_update_whole() -> None:
    item = feed()
    publish(item, 1)
    late = stream()
    late.subscribe(plan(item), snapshot=False)
    late.take()
    publish(item, 2)
    assert late.take() == [b"U,1,1,2|x\r\n"]


def test_a_newcomer_to_a_table_gets_its_rows_and_then_their_end() -> None:
    item = feed("COMMAND")
    for key, n in (("x", 1), ("y", 2)):
        put(item, key, "ADD", n)
    put(item, "x", "UPDATE", 3)
    late = stream()
    late.subscribe(plan(item, mode="COMMAND"), snapshot=True)
    put(item, "y", "DELETE")
    assert late.take() == [
        b"SUBCMD,1,1,3,1,2\r\n",
        b"CONF,1,unlimited,filtered\r\n",
        b"U,1,1,x|ADD|3\r\n",
        b"U,1,1,y||2\r\n",
        b"EOS,1,1\r\n",
        b"U,1,1,|DELETE|#\r\n",
    ]


def test_the_end_of_a_snapshot_waits_for_the_source() -> None:
    item, sends = feed("DISTINCT", snapshot_expected=True), stream()
    sends.subscribe(plan(item, mode="DISTINCT", frequency=Frequency(1)), snapshot=True)
    publish(item, 1, 2)  # Not held back: a frequency is not for snapshots.
    item.end_of_snapshot()
    assert sends.take()[2:] == [b"U,1,1,1|x\r\n", b"U,1,1,2|\r\n", b"EOS,1,1\r\n"]


def test_what_is_cleared_is_told_and_what_waited_is_dropped() -> None:
    item, sends = feed("DISTINCT"), stream()
    sends.subscribe(plan(item, mode="DISTINCT"), snapshot=True)
    sends.take()
    sends.block()
    publish(item, 1, 2)
    item.clear(0)
    publish(item, 3)
    assert sends.take() == [b"CS,1,1\r\n", b"U,1,1,3|x\r\n"]


def test_after_an_unsubscription_comes_nothing_more() -> None:
    item, sends = feed(), stream()
    sends.subscribe(plan(item), snapshot=False)
    sends.take()
    publish(item, 1)
    assert sends.unsubscribe(1).sub_id == 1
    publish(item, 2)
    assert sends.take() == [b"U,1,1,1|x\r\n", b"UNSUB,1\r\n"]
    assert not item.followers
    with pytest.raises(KeyError):
        sends.unsubscribe(1)


def test_what_waits_for_a_slow_reader_is_not_lost_while_there_is_room() -> None:
    item, sends, client = feed(), stream(), Client()
    sends.subscribe(plan(item), snapshot=False)
    client.read(sends.take())
    sends.block()
    publish(item, *range(10))
    client.read(sends.take(room_bytes=30))
    assert 0 < len(client.updates()) < 10
    sends.unblock()
    publish(item, 10)
    client.read(sends.take())
    assert client.column() == [str(n) for n in range(11)]
    assert sends.is_open


def test_beyond_that_the_newest_counts_and_others_are_dropped() -> None:
    item, sends, client = feed(), stream(limit_bytes=2000), Client()
    sends.subscribe(plan(item), snapshot=False)
    sends.block()
    publish(item, *range(100))
    client.read(sends.take())
    assert client.column()[-1] == "99"
    assert len(client.updates()) < 12
    assert not [line for line in client.other if line.startswith("OV")]


@pytest.mark.parametrize("mode", ["MERGE", "DISTINCT", "RAW"])
def test_losses_that_count_are_announced(mode: str) -> None:
    item, sends, client = feed(mode), stream(limit_bytes=2000), Client()
    sends.subscribe(plan(item, mode=mode, frequency=UNFILTERED), snapshot=False)
    sends.block()
    publish(item, *range(100))
    client.read(sends.take())
    [overflow] = [line for line in client.other if line.startswith("OV,1,1,")]
    assert int(overflow.split(",")[3]) + len(client.updates()) == 100
    assert client.column() == [str(n) for n in range(100)][-len(client.updates()) :]


def test_items_take_turns_when_there_is_a_backlog() -> None:
    items, sends, client = [feed(), feed()], stream(), Client()
    sends.subscribe(plan(*items), snapshot=False)
    client.read(sends.take())
    sends.block()
    publish(items[0], 1, 2, 3)
    publish(items[1], 1)
    client.read(sends.take(room_bytes=15))
    assert len(client.updates(item=1)) == len(client.updates(item=2)) == 1


def test_a_frequency_holds_updates_back_until_they_are_due() -> None:
    item, touched = feed(), Touched()
    sends, client = stream(touched=touched), Client()
    sends.subscribe(plan(item, frequency=Frequency(2)), snapshot=False)
    client.read(sends.take())
    sends.untouch()
    touched.clear()
    publish(item, 1, 2, 3, now_ns=S)
    assert touched == [sends]
    assert sends.next_due_ns() == S + S // 2
    client.read(sends.take())
    assert client.column() == ["1"]
    assert sends.release(S + S // 2 - 1) == S + S // 2
    assert sends.release(S + S // 2) is None
    client.read(sends.take())
    assert client.column() == ["1", "3"]


def test_what_a_frequency_holds_back_of_many_items_is_bounded_together() -> None:
    items, sends = [feed(mode="DISTINCT") for _ in range(20)], stream(limit_bytes=50_000)
    sends.subscribe(plan(*items, mode="DISTINCT", frequency=Frequency(0.001)), snapshot=False)
    most = 0
    for n in range(100):
        for item in items:
            item.publish({"n": f"{n:01000d}"}, 0)
        kept = [p.throttle.kept_bytes() for p in sends.subscriptions[1].positions if p.throttle is not None]
        most = max(most, sum(kept))
    assert most < 2 * 50_000
    lines = sends.take()
    while (due_ns := sends.next_due_ns()) is not None:
        sends.release(due_ns)
        lines += sends.take()
    # The newest of each comes last.
    newest = {line.split(b",")[2]: line for line in lines if line.startswith(b"U,")}
    assert len(newest) == 20
    assert all(f"{99:01000d}".encode() in line for line in newest.values())


def test_another_frequency_lets_what_waited_go_first() -> None:
    item, sends, client = feed(), stream(), Client()
    sends.subscribe(plan(item, frequency=Frequency(1)), snapshot=False)
    publish(item, 1, 2, now_ns=1)
    sends.reconfigure(1, UNLIMITED)
    publish(item, 3, 4, now_ns=2)
    sends.reconfigure(1, None)
    client.read(sends.take())
    assert client.column() == ["1", "2", "3", "4"]
    assert client.other == [
        "SUBOK,1,1,2",
        "CONF,1,1.0,filtered",
        "CONF,1,unlimited,filtered",
        "CONF,1,unlimited,filtered",
    ]


def test_streams_that_follow_the_same_are_of_a_kind_and_may_stand_alike() -> None:
    item = feed()
    one, other = stream(), stream()
    one.subscribe(plan(item), snapshot=True)
    publish(item, 1)
    other.subscribe(plan(item), snapshot=False)
    one.take()
    other.take()
    assert one.kind() == other.kind()
    assert not one.stands_as(other)
    publish(item, 2)
    assert not one.stands_as(other)
    assert (one.take(), other.take()) == ([b"U,1,1,2|\r\n"], [b"U,1,1,2|x\r\n"])
    assert one.stands_as(other)
    different = stream()
    different.subscribe(plan(item, sub_id=2), snapshot=True)
    assert different.kind() != one.kind()


def test_a_fork_goes_on_from_where_the_stream_stands() -> None:
    item, sends = feed(), stream()
    sends.subscribe(plan(item, frequency=Frequency(1)), snapshot=False)
    publish(item, 1, 2)
    sends.take()
    twin = sends.fork()
    assert twin.count == sends.count
    assert twin.next_due_ns() == sends.next_due_ns() == S
    for each in (sends, twin):
        each.release(S)
        assert each.take() == [b"U,1,1,2|\r\n"]
    list(twin.closing())
    assert len(item.followers) == 1


OPERATIONS = st.one_of(
    st.tuples(st.just("publish"), st.integers(0, 1)),
    st.tuples(st.just("take"), st.one_of(st.none(), st.integers(0, 60))),
    st.tuples(
        st.sampled_from(["block", "unblock", "release", "clear", "late", "reconfigure", "fork"]),
        st.integers(0, 3),
    ),
)


@pytest.mark.proof
@given(
    st.lists(OPERATIONS, max_size=60),
    st.sampled_from(["MERGE", "DISTINCT", "COMMAND", "RAW"]),
    st.sampled_from([UNLIMITED, UNFILTERED, Frequency(2)]),
    st.sampled_from([1500, 10**6]),
)
@tries(200, 20_000)
def test_whatever_happens_clients_end_with_what_the_items_are(
    operations: list[tuple[str, int | None]], mode: str, frequency: Frequency, limit: int
) -> None:
    story = Story(mode, UNFILTERED if mode == "RAW" else frequency, limit)
    for what, argument in operations:
        getattr(story, what)(argument)
    story.settle()


class Story:
    """One published sequence, and streams that are blocked, forked and joined late; a client each."""

    def __init__(self, mode: str, frequency: Frequency, limit: int) -> None:
        self.mode, self.frequency, self.limit = mode, frequency, limit
        self.items = [feed(mode), feed(mode)]
        self.readers: list[tuple[Stream, Client]] = []
        self.number, self.now = 0, 0
        self.table: list[dict[str, str | None]] = [{}, {}]
        self.late(0)

    def publish(self, item: int) -> None:
        self.number, self.now = self.number + 1, self.now + S // 7
        key = "xyz"[self.number % 3]
        if self.mode == "COMMAND":
            command = "DELETE" if self.number % 5 == 0 else "ADD"
            put(self.items[item], key, command, self.number, now_ns=self.now)
            self.table[item].pop(key, None)
            if command == "ADD":
                self.table[item][key] = str(self.number)
        else:
            publish(self.items[item], self.number, now_ns=self.now)
            self.table[item] = {"": str(self.number)}

    def take(self, room: int | None) -> None:
        for sends, client in self.readers:
            client.read(sends.take(room))
            assert sends.count == client.count

    def block(self, which: int) -> None:
        self.readers[which % len(self.readers)][0].block()

    def unblock(self, which: int) -> None:
        self.readers[which % len(self.readers)][0].unblock()

    def release(self, steps: int) -> None:
        self.now += steps * S // 4
        for sends, _ in self.readers:
            sends.release(self.now)

    def clear(self, item: int) -> None:
        if self.mode in ("DISTINCT", "COMMAND"):
            self.items[item % 2].clear(self.now)
            self.table[item % 2] = {}

    def late(self, _: int) -> None:
        sends = stream(limit_bytes=self.limit)
        sends.subscribe(
            plan(*self.items, mode=self.mode, frequency=self.frequency), snapshot=self.mode != "RAW"
        )
        self.readers.append((sends, Client()))

    def reconfigure(self, rate: int) -> None:
        if self.frequency.filtered:
            self.readers[0][0].reconfigure(1, Frequency(rate) if rate else UNLIMITED)

    def fork(self, which: int) -> None:
        sends, client = self.readers[which % len(self.readers)]
        if not sends.has_more:
            self.readers.append((sends.fork(), deepcopy(client)))

    def settle(self) -> None:
        for sends, _ in self.readers:
            sends.unblock()
        while any(sends.next_due_ns() is not None for sends, _ in self.readers):
            self.take(None)
            self.release(2)
        self.take(None)
        for sends, client in self.readers:
            assert not sends.has_more
            for item in (0, 1):
                self._check(client, item)

    def _check(self, client: Client, item: int) -> None:
        rows = client.updates(item=item + 1)
        if self.mode == "COMMAND":
            if not any(line.startswith("OV") for line in client.other):
                assert client.tables.get((1, item + 1), {}) == self.table[item]
            return
        latest = self.table[item].get("")
        if latest is not None and rows:
            assert rows[-1] == [latest, "x"]
        numbers = [int(row[0] or 0) for row in rows]
        assert numbers == sorted(numbers)
        assert len(set(numbers)) == len(numbers)
