"""Who may open a session, while others go on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from streamgauge.gateway.server.contract import NotAuthorized

from .raw_client import CREATE, WebSocket, get, post
from .running import DEADLINE_S, running


class Doorman:
    """Looks at passwords slowly: not before the test says so. Those with `quick` in them at once."""

    def __init__(self) -> None:
        self.may_look = threading.Event()
        self.threads: list[threading.Thread] = []

    def authenticate(self, user: str | None, password: str | None, address: str) -> Callable[[], None] | None:
        if password == "quick":
            return None
        if password == "no":
            raise NotAuthorized("wrong")

        def look() -> None:
            self.threads.append(threading.current_thread())
            assert self.may_look.wait(DEADLINE_S)
            if password == "bug":
                raise RuntimeError("a bug in a doorman")
            if password != "right":
                raise NotAuthorized("wrong")

        return look


@pytest.fixture
def doorman() -> Doorman:
    return Doorman()


def test_a_password_is_checked_while_others_are_served(doorman: Doorman) -> None:
    with (
        running(authenticator=doorman) as server,
        WebSocket(server) as slow,
        WebSocket(server) as wrong,
        WebSocket(server) as quick,
    ):
        slow.send(CREATE + "&LS_password=right")
        wrong.send(CREATE + "&LS_password=guessed")
        quick.open_session("&LS_password=quick")
        quick.subscribe("item")
        server.publish("item", {"n": "1"})
        assert quick.line() == "U,1,1,1"
        assert get(server, "/nothing").status == 404
        doorman.may_look.set()
        assert slow.line().startswith("CONOK,")
        assert wrong.line() == "CONERR,1,wrong"
        assert threading.main_thread() not in doorman.threads
        assert server.metric("sessions_refused_total") == 1
        assert server.metric("password_checks_total") == 2
        assert server.metric("sessions") == 2


def test_what_is_asked_for_meanwhile_waits_and_comes_in_order(doorman: Doorman) -> None:
    with running(authenticator=doorman) as server, WebSocket(server) as client:
        client.send("wsok")
        client.send(CREATE + "&LS_password=right")
        client.send("control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item&LS_schema=n")
        client.send("control\r\nLS_reqId=2&LS_op=delete&LS_subId=9")
        assert client.line() == "WSOK"
        server.wait_until(lambda: doorman.threads)
        doorman.may_look.set()
        assert client.until("CONS")[0].startswith("CONOK,")
        told = client.lines(4)
        assert [line for line in told if line.startswith("REQ")] == [
            "REQOK,1",
            "REQERR,2,19,there is no subscription 9",
        ]
        server.publish("item", {"n": "1"})
        assert client.line() == "U,1,1,1"


def test_who_asks_for_ever_more_meanwhile_waits_with_all_of_it(doorman: Doorman) -> None:
    with running(authenticator=doorman) as server, WebSocket(server) as client:
        client.send(CREATE + "&LS_password=right")
        client.send("control\r\n" + "x\r\n" * 300)
        server.wait_until(lambda: server.server.reception._held)
        server.wait_until(lambda: any(server.server.reception._held.values()))
        assert server.metric("kept_bytes") >= 900
        [held] = server.server.reception._held.values()
        assert len(held) == 1
        doorman.may_look.set()
        client.until("CONS")
        assert [line.split(",")[0] for line in client.lines(300)] == 300 * ["ERROR"]


def test_who_has_gone_meanwhile_gets_no_session(doorman: Doorman) -> None:
    with running(authenticator=doorman) as server:
        with WebSocket(server) as client:
            client.send(CREATE + "&LS_password=right")
            server.wait_until(lambda: doorman.threads)
        server.wait_until(lambda: not server.server.websockets)
        doorman.may_look.set()
        server.wait_until(lambda: not server.server.reception.admission.waiting)
        assert server.metric("sessions_created_total") == 0


def test_the_same_by_http(doorman: Doorman) -> None:
    doorman.may_look.set()
    with running(authenticator=doorman) as server:
        assert post(server, "create_session", "LS_adapter_set=TEST&LS_password=guessed").lines() == [
            "CONERR,1,wrong"
        ]
        assert post(server, "create_session", "LS_adapter_set=TEST&LS_password=bug").lines() == [
            "CONERR,68,something went wrong inside the server"
        ]
        opened = post(server, "create_session", "LS_adapter_set=TEST&LS_password=right&LS_polling=true")
        assert opened.lines()[0].startswith("CONOK,")


def test_as_many_passwords_wait_as_may(doorman: Doorman) -> None:
    with (
        running({"limits": {"password_checks_waiting": 1}}, authenticator=doorman) as server,
        WebSocket(server) as one,
        WebSocket(server) as two,
    ):
        one.send(CREATE + "&LS_password=right")
        server.wait_until(lambda: doorman.threads)
        two.send(CREATE + "&LS_password=right")
        assert two.line() == "CONERR,1,too many passwords wait to be checked; try again in a moment"
        doorman.may_look.set()
        assert one.line().startswith("CONOK,")
        two.send(CREATE + "&LS_password=right")
        assert two.line().startswith("CONOK,")


def test_an_old_session_is_ended_only_by_who_may_come_in_its_place(doorman: Doorman) -> None:
    with (
        running({"limits": {"sessions": 1}}, authenticator=doorman) as server,
        WebSocket(server) as victim,
        WebSocket(server) as stranger,
        WebSocket(server) as other,
    ):
        old = victim.open_session("&LS_user=ann&LS_password=quick")
        stranger.send(f"{CREATE}&LS_old_session={old}&LS_user=ann&LS_password=no")
        assert stranger.line() == "CONERR,1,wrong"
        other.send(f"{CREATE}&LS_old_session={old}&LS_user=bob&LS_password=quick")
        assert other.line().startswith("CONERR,8,")
        assert server.call(lambda: list(server.server.gateway.sessions)) == [old]
        # One who starts anew is not kept out by what he leaves.
        other.send(f"{CREATE}&LS_old_session={old}&LS_user=ann&LS_password=quick")
        assert other.line().startswith("CONOK,")
        assert old not in server.call(lambda: list(server.server.gateway.sessions))
