from __future__ import annotations

from streamgauge.gateway.protocol.commands import UNLIMITED
from streamgauge.gateway.protocol.events import view
from streamgauge.gateway.protocol.feeds import Feed, new_feed
from streamgauge.gateway.protocol.streams import Stream, Touched
from streamgauge.gateway.protocol.subscriptions import Plan, interned
from streamgauge.gateway.protocol.updates import Diffing


def feed() -> Feed:
    return new_feed("MERGE", snapshot_expected=False, remembered=1)


def plan(sub_id: int, *feeds: Feed) -> Plan:
    return interned(Plan(sub_id, "MERGE", feeds, view(("n",), Diffing()), UNLIMITED, 1, 100))


def stream(*plans: Plan) -> Stream:
    made = Stream(Touched(), limit_bytes=1000, recovery_bytes=1000)
    for each in plans:
        made.subscribe(each, snapshot=False)
    return made


def test_alike_plans_are_the_same() -> None:
    item = feed()
    assert plan(1, item) is plan(1, item)
    assert plan(1, item) is not plan(2, item)


def test_items_are_counted_and_how_often_each_is_followed() -> None:
    one, two = feed(), feed()
    sends = stream(plan(1, one, two), plan(2, one, one))
    assert sends.subscriptions.item_count == 4
    assert sends.subscriptions.times_followed([one, two, two]) == [4, 3]
    sends.unsubscribe(2)
    assert sends.subscriptions.item_count == 2
    assert sends.subscriptions.times_followed([one]) == [2]


def test_who_leaves_a_stream_follows_as_much_and_who_closes_nothing() -> None:
    item = feed()
    sends = stream(plan(1, item), plan(2, item))
    sends.take()
    twin = sends.fork()
    assert twin.subscriptions.item_count == 2
    assert twin.subscriptions.times_followed([item]) == [3]
    list(sends.closing())
    assert (sends.subscriptions.item_count, sends.subscriptions.times_followed([item])) == (0, [1])
    assert len(item.followers) == 2


def test_a_batch_that_became_too_much_is_told() -> None:
    item = feed()
    touched = Touched(burst_bytes=500)
    sends = Stream(touched, limit_bytes=1000, recovery_bytes=1000)
    sends.subscribe(plan(1, item), snapshot=False)
    item.publish({"n": "x" * 400}, 0)
    assert not touched.is_full
    item.publish({"n": "y" * 400}, 0)
    assert touched.is_full
    touched.clear()
    assert not touched.is_full
