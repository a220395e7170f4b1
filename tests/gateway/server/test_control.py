"""What clients may ask for, and how much of it."""

from __future__ import annotations

import time
from collections import deque

import pytest

from streamgauge.gateway.server.sessions import Session

from .raw_client import WebSocket, post
from .running import Running, running

_NS_PER_S = 1_000_000_000


def sessions_now(server: Running) -> list[Session]:
    """For what is on the loop itself."""
    return list(server.server.gateway.sessions.values())


def sessions(server: Running) -> list[Session]:
    return server.call(sessions_now, server)


def add(sub: int, items: str, fields: str = "n", mode: str = "MERGE") -> str:
    return (
        f"control\r\nLS_reqId={sub}&LS_op=add&LS_subId={sub}&LS_mode={mode}&LS_ack=false"
        f"&LS_group={items.replace(' ', '%20')}&LS_schema={fields.replace(' ', '%20')}"
    )


@pytest.mark.parametrize(
    "ask", ["control\r\nLS_reqId=1&LS_op=force_rebind&LS_polling_millis=999999999", "poll", "poll with data"]
)
def test_a_session_without_a_connection_is_not_kept_as_long_as_its_client_likes(ask: str) -> None:
    with running({"session_timeout": 1}) as server, WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("item")
        if ask.startswith("control"):
            client.send(ask)
        else:
            if ask == "poll with data":
                client.send("control\r\nLS_reqId=1&LS_op=force_rebind")
                client.until("LOOP")
                server.publish("item", {"n": "1"})
            post(
                server,
                "bind_session",
                f"LS_session={session}&LS_polling=true&LS_polling_millis=999999999&LS_idle_millis=0",
            ).lines()
        server.wait_until(lambda: server.server.gateway.unbound)
        [held] = sessions(server)
        assert held.deadline_ns - time.monotonic_ns() <= 31 * _NS_PER_S


def test_sequences_of_messages_that_nobody_takes_are_not_remembered() -> None:
    with running({"limits": {"requests_per_s": 100_000}}) as server, WebSocket(server) as client:
        client.open_session()
        for batch in range(10):
            lines = [
                f"LS_reqId={n}&LS_message=x&LS_sequence=sequence{batch}{n}&LS_msg_prog=1" for n in range(300)
            ]
            client.send("msg\r\n" + "\r\n".join(lines))
            assert [client.line().split(",")[0] for _ in range(600)].count("MSGFAIL") == 300
        [session] = sessions(server)
        assert not session.message_numbers


def test_a_session_has_so_many_sequences_of_messages_and_their_names_have_an_end() -> None:
    limits = {"sequences_per_session": 2}
    with (
        running({"limits": limits}, message_handler=lambda user, text: text) as server,
        WebSocket(server) as client,
    ):
        client.open_session()
        told = []
        for n, sequence in enumerate(["one", "two", "three", "x" * 65, "one", "two"]):
            client.send(f"msg\r\nLS_reqId={n}&LS_message=x&LS_sequence={sequence}&LS_msg_prog={n + 1}")
            told.append(client.line() + client.line() if n in (0, 1, 4, 5) else client.line())
        assert [line.startswith("REQERR") for line in told] == [False, False, True, True, False, False]
        [session] = sessions(server)
        assert session.message_numbers == {"one": 5, "two": 6}


def test_who_asks_on_and_does_not_come_for_the_answers_is_given_up() -> None:
    limits = {"recovery_bytes": 4096, "requests_per_s": 100_000}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("item")
        client.send("control\r\nLS_reqId=1&LS_op=force_rebind&LS_polling_millis=30000")
        client.until("LOOP")
        ask = "\r\n".join(f"LS_reqId={n}&LS_op=reconf&LS_subId=1" for n in range(400))
        query = f"LS_protocol=TLCP-2.5.0&LS_session={session}"
        answers = post(server, "control", ask, query=query).body.splitlines()
        assert answers[0] == "REQOK,0"
        assert answers[-1].startswith("REQERR,399,20,")
        assert sessions(server) == []
        assert sum(line.startswith("REQOK") for line in answers) < 4096 / 20


def test_a_field_may_not_be_named_twice_nor_too_many_be_named() -> None:
    with running({"limits": {"fields_per_subscription": 3}}) as server, WebSocket(server) as client:
        client.open_session()
        client.send(add(1, "item", " ".join(["n"] * 10_000)))
        assert client.line() == "REQERR,1,23,LS_schema names a field twice"
        client.send(add(2, "item", "a b c d"))
        assert client.line() == "REQERR,2,23,a subscription may have 3 fields"
        client.subscribe("item", sub=3, schema="a b c")


def test_what_one_record_becomes_for_one_subscriber_is_bounded() -> None:
    with running({"limits": {"requests_per_s": 100_000}}) as server, WebSocket(server) as client:
        client.open_session()
        client.send(add(1, " ".join(["item"] * 1000)))
        assert client.line() == "REQERR,1,21,a session may subscribe to an item 10 times"
        for sub in range(2, 12):
            client.subscribe("item", sub=sub)
        client.send(add(12, "item"))
        assert client.line().startswith("REQERR,12,21,")
        client.send("control\r\nLS_reqId=13&LS_op=delete&LS_subId=2")
        assert sorted(client.lines(2)) == ["REQOK,13", "UNSUB,2"]
        client.subscribe("item", sub=14)
        assert server.source.subscribed == ["item"]
        before = server.metric("sent_bytes_total")
        server.publish("item", *({"n": str(n) * 900} for n in range(6)))
        for _ in range(60):
            client.line()
        assert server.metric("sent_bytes_total") - before < 6 * 10 * 920


def test_a_batch_does_not_pile_up_before_it_is_sent() -> None:
    """A reader that is slow is found out while the batch is published, not after it has become lines."""
    limits = {"burst_bytes": 65_536}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        client.open_session()
        for sub in range(1, 11):
            client.subscribe("item", sub=sub)
        waiting = []

        def publish() -> None:
            for n in range(200):
                server.source.listener.publish("item", {"n": f"{n % 10}" * 10_000})
                [session] = server.server.gateway.sessions.values()
                assert session.link is not None
                waiting.append(session.cohort.outbox_bytes + session.link.transport.get_write_buffer_size())

        server.call(publish)
        assert max(waiting) < 1_000_000
        found = client.line()
        while not found.startswith("U,1,1,9999999"):
            found = client.line()


def test_a_session_has_so_many_items() -> None:
    limits = {"items_per_session": 1500, "requests_per_s": 100_000}
    with running({"limits": limits}) as server, WebSocket(server) as client:
        client.open_session()
        client.subscribe(" ".join(f"a{n}" for n in range(1000)))
        client.send(add(2, " ".join(f"b{n}" for n in range(501))))
        assert client.line() == "REQERR,2,21,a session may have 1500 items"
        client.subscribe(" ".join(f"b{n}" for n in range(500)), sub=3)
        client.send("control\r\nLS_reqId=4&LS_op=delete&LS_subId=1&LS_ack=false")
        assert client.line() == "UNSUB,1"
        client.subscribe(" ".join(f"b{n}" for n in range(501)), sub=5)


def test_items_and_what_they_make_dear_are_charged() -> None:
    with running() as server, WebSocket(server) as one, WebSocket(server) as two:
        items = " ".join(f"i{n}" for n in range(200))
        charged: list[int] = []
        collect = server.server.reception.collect_cost

        def collected() -> int:
            charged.append(collect())
            return charged[-1]

        server.server.reception.collect_cost = collected  # type: ignore[method-assign]
        for client in (one, two):
            client.open_session()
            client.subscribe(items)
        assert charged.count(201) == 2
        server.wait_until(lambda: len(server.server.gateway.delivery.cohorts) == 1)
        # To leave the shared cohort, all that is followed there has to be copied.
        one.send("control\r\nLS_reqId=2&LS_op=reconf&LS_subId=1")
        one.until("CONF")
        assert charged[-1] == 11
        one.send(add(3, "x y", " ".join(f"f{n}" for n in range(400))))
        one.until("CONF")
        assert charged[-1] in (11, 11 + 10)


def test_sessions_of_an_address_and_all_sessions_have_so_many_items_together() -> None:
    for limit, words in (
        ("items_of_address", "sessions of your address have"),
        ("items_of_all", "sessions have"),
    ):
        with (
            running({"limits": {limit: 5}}) as server,
            WebSocket(server) as one,
            WebSocket(server) as two,
        ):
            one.open_session()
            two.open_session()
            one.subscribe("a b c")
            two.send(add(1, "a b c"))
            assert two.line() == f"REQERR,1,21,{words} as many items together as they may"
            two.subscribe("a b", sub=2)
            one.send("control\r\nLS_reqId=4&LS_op=delete&LS_subId=1&LS_ack=false")
            assert one.line() == "UNSUB,1"
            two.subscribe("d e f", sub=3)


@pytest.mark.parametrize("how", ["destroy", "unsubscribe", "source fails", "refused"])
def test_what_is_not_followed_any_more_is_not_counted(how: str) -> None:
    with running() as server, WebSocket(server) as one, WebSocket(server) as two:
        for client in (one, two):
            client.open_session()
            client.subscribe("a b c")
        server.wait_until(lambda: len(server.server.gateway.delivery.cohorts) == 1)
        assert server.metric("items_followed") == server.metric("items_followed_of_address") == 6
        if how == "refused":
            one.send(add(2, "d no-item"))
            assert one.line().startswith("REQERR,2,")
            assert server.metric("items_followed") == 6
        elif how == "source fails":
            server.call(server.source.listener.source_failed, "it broke")
        else:
            op = "destroy" if how == "destroy" else "delete&LS_subId=1"
            one.send(f"control\r\nLS_reqId=2&LS_op={op}")
            one.until("END" if how == "destroy" else "UNSUB")
            assert server.metric("items_followed") == 3
        for client in (one, two):
            client.socket.close()
        server.wait_until(lambda: len(server.server.gateway.unbound) == len(server.server.gateway.sessions))
        server.call(lambda: deque(map(server.server.gateway.drop, sessions_now(server)), 0))
        assert server.metric("items_followed") == server.metric("items_followed_of_address") == 0
        assert server.call(lambda: server.server.gateway.holdings.sessions_of("127.0.0.1")) == 0


def test_names_that_are_kept_have_an_end() -> None:
    long = "x" * 501
    with running() as server, WebSocket(server) as client:
        client.send(f"create_session\r\nLS_adapter_set=TEST&LS_user={long}")
        assert client.line() == "CONERR,65,LS_user may have 500 characters"
        client.open_session(f"&LS_user={long[1:]}")
        client.send(add(1, long))
        assert client.line() == "REQERR,1,21,LS_group has a name in it of more than 500 characters"
        client.send(add(2, "item", long))
        assert client.line().startswith("REQERR,2,23,")
        client.subscribe(long[1:], schema=long[1:])


def test_a_subscription_is_told_when_its_source_is_ready_and_what_was_asked_since_waits() -> None:
    with running() as server, WebSocket(server) as client, WebSocket(server) as other:
        client.open_session()
        other.open_session()
        server.source.has_to_prepare = True
        client.send("control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item&LS_schema=n")
        client.send("control\r\nLS_reqId=2&LS_op=delete&LS_subId=9")
        client.send("control\r\nLS_reqId=3&LS_op=delete&LS_subId=9")
        server.wait_until(lambda: server.source.waiting)
        assert server.source.subscribed == []
        server.source.has_to_prepare = False
        other.subscribe("another")  # Nobody else waits.
        server.publish("item", {"n": "too early"})
        [ready] = server.source.waiting
        server.call(ready)
        told = client.lines(5)
        assert [line for line in told if line.startswith("REQ")] == [
            "REQOK,1",
            "REQERR,2,19,there is no subscription 9",
            "REQERR,3,19,there is no subscription 9",
        ]
        assert [line for line in told if line.startswith("SUBOK")] == ["SUBOK,1,1,1"]
        server.publish("item", {"n": "1"})
        assert client.line() == "U,1,1,1"
        assert not server.call(lambda: server.server.reception._held)


def test_who_has_gone_while_its_source_got_ready_subscribes_nothing() -> None:
    with running() as server:
        server.source.has_to_prepare = True
        with WebSocket(server) as client:
            client.open_session()
            client.send("control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item&LS_schema=n")
            server.wait_until(lambda: server.source.waiting)
        server.wait_until(lambda: not server.server.websockets)
        [ready] = server.source.waiting
        server.call(ready)
        assert server.source.subscribed == []
        assert not server.call(lambda: server.server.reception._held)
