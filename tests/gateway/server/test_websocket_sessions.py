"""Sessions over WebSocket, line by line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .client_frames import PING, PONG
from .memory_source import MemorySource
from .raw_client import Closed, WebSocket
from .running import Running, running


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running({"limits": {"subscriptions_per_session": 3, "items_per_subscription": 4}}) as started:
        yield started


def control(text: str) -> str:
    return f"control\r\n{text}"


def test_a_session_begins_with_what_the_client_has_to_know(server: Running) -> None:
    with WebSocket(server) as client:
        assert "Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com" in client.head
        client.send("wsok")
        assert client.line() == "WSOK"
        client.send("create_session\r\nLS_adapter_set=TEST&LS_cid=x&LS_keepalive_millis=2000")
        conok = client.line().split(",")
        assert conok[0] == "CONOK"
        assert conok[2:] == ["50000", "2000", "*"]
        assert client.lines(3) == ["SERVNAME,streamgauge", "CLIENTIP,127.0.0.1", "CONS,unlimited"]


@pytest.mark.parametrize("minor", range(6))
def test_older_versions_of_the_protocol_are_spoken(server: Running, minor: int) -> None:
    name = f"TLCP-2.{minor}.0.lightstreamer.com"
    with WebSocket(server, protocol=name) as client:
        assert f"Sec-WebSocket-Protocol: {name}" in client.head
        client.open_session()
        client.subscribe(f"old-{minor}")
        server.publish(f"old-{minor}", {"n": "1"})
        assert client.line() == "U,1,1,1"


def test_a_head_can_be_reduced(server: Running) -> None:
    with WebSocket(server) as client:
        client.send("create_session\r\nLS_adapter_set=TEST&LS_reduce_head=true")
        assert client.line().startswith("CONOK")
        client.send(control("LS_reqId=1&LS_op=constrain&LS_requested_max_bandwidth=5"))
        assert client.line() == "REQOK,1"


def test_what_is_published_reaches_those_who_subscribed(server: Running) -> None:
    with WebSocket(server) as client, WebSocket(server) as other:
        client.open_session()
        other.open_session()
        client.subscribe("a b", schema="n m")
        other.subscribe("b", schema="m")
        server.publish("a", {"n": "1", "m": "x"})
        server.publish("b", {"n": "2", "m": "y"})
        server.publish("b", {"n": "2", "m": "z"})
        assert client.lines(3) == ["U,1,1,1|x", "U,1,2,2|y", "U,1,2,|z"]
        assert other.lines(2) == ["U,1,1,y", "U,1,1,z"]


def test_items_are_subscribed_at_their_source_while_somebody_wants_them(server: Running) -> None:
    with WebSocket(server) as client, WebSocket(server) as other:
        client.open_session()
        other.open_session()
        client.subscribe("wanted")
        other.subscribe("wanted")
        assert server.source.subscribed.count("wanted") == 1
        for each in (client, other):
            each.send(control("LS_reqId=9&LS_op=delete&LS_subId=1"))
            assert sorted(each.lines(2)) == ["REQOK,9", "UNSUB,1"]
        server.wait_until(lambda: "wanted" not in server.source.subscribed)


def test_several_requests_share_a_message_and_a_bad_one_spoils_only_itself(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send(
            control(
                "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=x&LS_schema=n\r\n"
                "LS_reqId=2&LS_op=add&LS_subId=2&LS_mode=NONSENSE&LS_group=x&LS_schema=n\r\n"
                "LS_reqId=3&LS_op=delete&LS_subId=7\r\n"
                "LS_reqId=4&LS_op=delete&LS_subId=1"
            )
        )
        lines = client.lines(7)
        assert [line for line in lines if line.startswith("REQ")] == [
            "REQOK,1",
            "REQERR,2,24,LS_mode must be MERGE%2C DISTINCT%2C RAW or COMMAND",
            "REQERR,3,19,there is no subscription 7",
            "REQOK,4",
        ]
        assert [line for line in lines if not line.startswith("REQ")] == [
            "SUBOK,1,1,1",
            "CONF,1,unlimited,filtered",
            "UNSUB,1",
        ]


@pytest.mark.parametrize(
    ("request_line", "answer"),
    [
        (
            "LS_reqId=5&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=no-item&LS_schema=n",
            "REQERR,5,-7,no-item%2C of",
        ),
        (
            "LS_reqId=5&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=ok%20no-item&LS_schema=n",
            "REQERR,5,-7,no-item%2C of",
        ),
        (
            "LS_reqId=5&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=bug-item&LS_schema=n",
            "REQERR,5,66,the data adapter",
        ),
        (
            "LS_reqId=5&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=x&LS_schema=n&LS_data_adapter=NO",
            "REQERR,5,17,",
        ),
        (
            "LS_reqId=5&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=1%202%203%204%205&LS_schema=n",
            "REQERR,5,21,",
        ),
        ("LS_reqId=5&LS_session=nobody&LS_op=delete&LS_subId=1", "REQERR,5,20,there is no such session"),
        ("LS_reqId=5&LS_op=explode", "REQERR,5,65,LS_op is not known"),
        ("LS_op=delete&LS_subId=1", "ERROR,67,LS_reqId is missing"),
        ("nonsense", "ERROR,67,a parameter is not of the form"),
    ],
)
def test_what_cannot_be_done_is_answered_with_a_code(server: Running, request_line: str, answer: str) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send(control(request_line))
        assert client.line().startswith(answer)
        client.subscribe("still-works")
        assert not {"ok", "no-item", "bug-item", "1"} & set(server.source.subscribed)
        client.send(control("LS_reqId=6&LS_op=destroy"))
        client.until("END")


def test_limits_on_subscriptions_hold(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        for sub in (1, 2, 3):
            client.subscribe(f"i{sub}", sub=sub)
        client.send(control("LS_reqId=4&LS_op=add&LS_subId=4&LS_mode=MERGE&LS_group=i4&LS_schema=n"))
        assert client.line() == "REQERR,4,65,a session may have 3 subscriptions"
        client.send(control("LS_reqId=5&LS_op=add&LS_subId=3&LS_mode=MERGE&LS_group=i4&LS_schema=n"))
        assert client.line() == "REQERR,5,65,there is a subscription 3 already"


def test_fields_and_modes_that_a_source_does_not_have_are_refused() -> None:
    source = MemorySource(("n",), modes=frozenset({"COMMAND"}))
    with running(source=source) as server, WebSocket(server) as client:
        client.open_session()
        add = "LS_reqId=1&LS_op=add&LS_subId=1&LS_group=x"
        client.send(control(f"{add}&LS_mode=MERGE&LS_schema=n"))
        assert client.line() == "REQERR,1,24,x cannot be subscribed in MERGE mode"
        client.send(control(f"{add}&LS_mode=COMMAND&LS_schema=key%20command%20other"))
        assert client.line() == "REQERR,1,23,x has no field other"
        client.send(control(f"{add}&LS_mode=COMMAND&LS_schema=key%20command%20n"))
        assert client.line() == "REQOK,1"


def test_one_connection_carries_one_session_at_a_time(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send("create_session\r\nLS_adapter_set=TEST")
        assert client.line() == "CONERR,69,a session is bound to this connection"
        client.send(control("LS_reqId=1&LS_op=destroy"))
        assert client.until("END")[-1].startswith("END,31,")
        client.open_session()


@pytest.mark.parametrize(
    ("request_line", "answer"),
    [
        ("create_session\r\nLS_adapter_set=OTHER", "CONERR,2,there is no such adapter set"),
        ("create_session\r\nLS_adapter_set=TEST&LS_polling=perhaps", "CONERR,65,"),
        ("bind_session\r\nLS_session=S0xnobody", "CONERR,20,there is no such session"),
        ("bind_session\r\n", "CONERR,20,there is no such session"),
        ("create_session\r\nLS_adapter_set", "CONERR,67,"),
    ],
)
def test_sessions_that_cannot_be_opened_are_refused_with_a_code(
    server: Running, request_line: str, answer: str
) -> None:
    with WebSocket(server) as client:
        client.send(request_line)
        assert client.line().startswith(answer)
        client.open_session()


def test_a_session_can_be_ended_with_a_cause(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send(
            control("LS_reqId=1&LS_op=destroy&LS_cause_code=-5&LS_cause_message=enough&LS_close_socket=true")
        )
        assert client.lines(2) == ["REQOK,1", "END,-5,enough"]
        with pytest.raises(Closed):
            client.line()


def test_a_forced_rebind_keeps_the_session_and_what_comes_meanwhile(server: Running) -> None:
    with WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("rebound")
        server.publish("rebound", {"n": "1"})
        client.send(control("LS_reqId=1&LS_op=force_rebind"))
        assert sorted(client.lines(3)) == ["LOOP,0", "REQOK,1", "U,1,1,1"]
        server.publish("rebound", {"n": "2"}, {"n": "3"})
        client.send(f"bind_session\r\nLS_session={session}")
        assert client.until("CONS")[0].startswith(f"CONOK,{session},")
        assert client.lines(2) == ["U,1,1,2", "U,1,1,3"]
        client.send(control("LS_reqId=2&LS_op=force_rebind&LS_polling_millis=50&LS_close_socket=true"))
        assert client.lines(2) == ["REQOK,2", "LOOP,50"]
        with pytest.raises(Closed):
            client.line()
    with WebSocket(server) as client:
        client.send(f"bind_session\r\nLS_session={session}")
        client.until("CONS")
        server.publish("rebound", {"n": "4"})
        assert client.line() == "U,1,1,4"


def test_polling_over_websocket(server: Running) -> None:
    with WebSocket(server) as client:
        session = client.open_session()
        client.subscribe("polled")
        client.send(control("LS_reqId=1&LS_op=force_rebind"))
        client.until("LOOP")
        for n in range(3):
            server.publish("polled", {"n": str(n)})
            client.send("bind_session\r\nLS_polling=true&LS_polling_millis=10&LS_idle_millis=5000")
            lines = client.until("LOOP")
            assert lines[0].startswith(f"CONOK,{session},50000,5000,")
            assert lines[-2:] == [f"U,1,1,{n}", "LOOP,10"]


def test_heartbeats_are_not_answered_and_pings_are(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send("heartbeat\r\n")
        client.send_frame(b"still there?", PING)
        assert client.frame() == (PONG, b"still there?")


def test_messages_without_anybody_to_take_them_are_denied(server: Running) -> None:
    with WebSocket(server) as client:
        client.open_session()
        client.send("msg\r\nLS_reqId=1&LS_message=hello&LS_msg_prog=1")
        assert client.lines(2) == ["REQOK,1", "MSGFAIL,*,1,0,nobody takes messages here"]


def test_messages_are_handed_on_and_answered_once() -> None:
    told: list[tuple[str | None, str]] = []

    def take(user: str | None, text: str) -> str:
        told.append((user, text))
        if text == "bad":
            raise ValueError("no, thanks")
        return f"got {text}"

    with running(message_handler=take) as server, WebSocket(server) as client:
        client.open_session("&LS_user=ann")
        client.send("msg\r\nLS_reqId=1&LS_message=hi%2C%20there&LS_msg_prog=1&LS_sequence=chat")
        assert client.lines(2) == ["REQOK,1", "MSGDONE,chat,1,got hi%2C there"]
        client.send("msg\r\nLS_reqId=2&LS_message=again&LS_msg_prog=1&LS_sequence=chat")
        assert client.line().startswith("REQERR,2,32,")
        client.send("msg\r\nLS_reqId=3&LS_message=bad&LS_msg_prog=2&LS_sequence=chat")
        assert client.lines(2) == ["REQOK,3", "MSGFAIL,chat,2,34,no%2C thanks"]
        client.send("msg\r\nLS_reqId=4&LS_message=quiet&LS_outcome=false&LS_ack=false")
        client.send("msg\r\nLS_reqId=5&LS_message=loud&LS_msg_prog=3&LS_sequence=chat&LS_ack=false")
        assert client.line() == "MSGDONE,chat,3,got loud"
        assert told[0] == ("ann", "hi, there")
        assert ("ann", "quiet") in told


def test_a_source_that_fails_takes_its_subscriptions_and_no_others() -> None:
    other = MemorySource()
    with running(sources={"OTHER": other}) as server, WebSocket(server) as client, WebSocket(server) as twin:
        for each in (client, twin):
            each.open_session()
            each.subscribe("a", sub=1)
            each.subscribe("b", sub=2, more="&LS_data_adapter=OTHER")
        server.call(server.source.listener.source_failed, "the disk is full")
        server.call(other.listener.publish, "b", {"n": "1"})
        for each in (client, twin):
            assert each.lines(2) == ["UNSUB,1", "U,2,1,1"]
        client.subscribe("a", sub=3)
        server.publish("a", {"n": "2"})
        assert client.line() == "U,3,1,2"
