"""What clients may not do, and that others do not notice."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server import session_opening
from streamgauge.gateway.server.contract import NotAuthorized
from streamgauge.gateway.server.server import Page
from streamgauge.gateway.server.settings import ServerSettings

from ..connector.certificates import authority, signed_by
from .client_frames import BINARY, TEXT
from .raw_client import Answer, Closed, WebSocket, connect, get, post
from .running import Running, running


def refused(server: Running, more: str = "") -> str:
    with WebSocket(server) as client:
        client.send(f"create_session\r\nLS_adapter_set=TEST{more}")
        return client.line()


def test_as_many_sessions_as_are_allowed() -> None:
    with running({"limits": {"sessions": 2}}) as server, WebSocket(server) as one, WebSocket(server) as two:
        one.open_session()
        two.open_session()
        assert refused(server).startswith("CONERR,8,as many sessions are open as may be")
        one.send("control\r\nLS_reqId=1&LS_op=destroy")
        one.until("END")
        one.open_session()
        assert server.metric("sessions_refused_total") == 1


def test_as_many_sessions_of_an_address_as_are_allowed() -> None:
    with running({"limits": {"sessions_per_address": 1}}) as server, WebSocket(server) as client:
        client.open_session()
        assert refused(server).startswith("CONERR,8,as many sessions are open from your address")


def test_another_machine_may_have_so_many_sessions_where_nothing_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_opening, "SESSIONS_PER_ADDRESS", 1)
    with running() as server, WebSocket(server) as one, WebSocket(server) as two:
        one.open_session()
        # This machine's own are not counted: a proxy may be here.
        two.open_session()
        monkeypatch.setattr(session_opening, "is_loopback", lambda address: False)
        assert refused(server).startswith("CONERR,8,as many sessions are open from your address")


def test_only_those_who_may() -> None:
    asked: list[tuple[str | None, str | None, str]] = []

    class Doorman:
        def authenticate(self, user: str | None, password: str | None, address: str) -> None:
            asked.append((user, password, address))
            if password != "token":
                raise NotAuthorized("not, without a token")

    with running(authenticator=Doorman()) as server, WebSocket(server) as client:
        assert refused(server, "&LS_user=ann&LS_password=wrong") == "CONERR,1,not%2C without a token"
        client.open_session("&LS_password=token")
        assert asked == [("ann", "wrong", "127.0.0.1"), (None, "token", "127.0.0.1")]


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([(b"\x00\x01", BINARY, True)], 1003),
        ([(b"control\r\n\xff\xfe", TEXT, True)], 1007),
        ([(b"x" * 60_000, TEXT, True)], 1009),
        ([(b"x" * 30_000, TEXT, False), (b"x" * 30_000, 0, True)], 1009),
        ([(b"x", 0, True)], 1002),
        ([(b"x", TEXT, False), (b"x", TEXT, True)], 1002),
        ([(b"x", 0x3, True)], 1002),
        ([(b"x" * 200, 0x9, True)], 1002),
    ],
)
def test_frames_that_break_the_rules_end_their_connection_and_no_other(
    frames: list[tuple[bytes, int, bool]], code: int
) -> None:
    with running() as server, WebSocket(server) as good, WebSocket(server) as bad:
        good.open_session()
        good.subscribe("item")
        bad.open_session()
        for payload, opcode, fin in frames:
            bad.send_frame(payload, opcode, fin=fin)
        assert bad.closed_with() == code
        server.publish("item", {"n": "1"})
        assert good.line() == "U,1,1,1"


def test_a_message_may_come_in_fragments() -> None:
    with running() as server, WebSocket(server) as client:
        client.open_session()
        client.send_frame(b"control\r\nLS_reqId=1&LS_op=", fin=False)
        client.send_frame(b"constr", 0, fin=False)
        client.send_frame(b"ain", 0)
        assert sorted(client.lines(2)) == ["CONS,unlimited", "REQOK,1"]


def test_an_unmasked_frame_is_refused() -> None:
    with running() as server, WebSocket(server) as client:
        client.socket.sendall(b"\x81\x04wsok")
        assert client.closed_with() == 1002


def test_who_asks_too_fast_is_read_more_slowly_and_all_is_answered() -> None:
    with running({"limits": {"requests_per_s": 50}}) as server, WebSocket(server) as client:
        client.open_session()
        for n in range(100):
            client.send(f"control\r\nLS_reqId={n}&LS_op=delete&LS_subId=7")
        answers = client.lines(100)
        assert [line.split(",")[1] for line in answers] == [str(n) for n in range(100)]
        # More than a second's worth had to wait; meanwhile others are served.
        assert get(server.monitoring, "/healthz").body == "ok\n"


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: ",
        b"POST /lightstreamer/control.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nLS_",
    ],
)
def test_a_request_that_does_not_come_to_an_end_is_dropped(start: bytes) -> None:
    with running({"limits": {"connect_deadline": "300ms"}}) as server:
        raw = connect(server)
        raw.sendall(start)
        assert raw.recv(100) == b""
        assert server.metric("connections_dropped_total") == 1


def test_a_websocket_without_a_session_is_dropped() -> None:
    with running({"limits": {"connect_deadline": "300ms"}}) as server, WebSocket(server) as idle:
        with pytest.raises(Closed):
            idle.line()
        with WebSocket(server) as client:
            client.open_session()
            client.subscribe("item")
            server.wait_until(lambda: server.server.gateway.counters.connections_dropped >= 1)
            server.publish("item", {"n": "1"})
            assert client.line() == "U,1,1,1"


@pytest.mark.parametrize(
    ("allowed", "origin", "may"),
    [
        ([], "https://anywhere.example", False),
        ([], "null", False),
        ([], None, True),
        (["https://shop.example"], "https://shop.example", True),
        (["https://shop.example"], "https://other.example", False),
        (["https://shop.example"], "http://shop.example", False),
        (["https://*.shop.example"], "https://a.b.shop.example", True),
        (["https://*.shop.example"], "https://badshop.example", False),
        (["https://shop.example"], None, True),
    ],
)
def test_pages_of_other_origins_are_kept_out(allowed: list[str], origin: str | None, may: bool) -> None:
    header = f"Origin: {origin}\r\n" if origin else ""
    with running({"allowed_origins": allowed}) as server:
        with WebSocket(server, origin=origin) as client:
            assert client.is_upgraded is may
            if not may:
                assert client.head.startswith("HTTP/1.1 403")
        answer = post(server, "create_session", "LS_adapter_set=TEST&LS_polling=true", headers=header)
        assert answer.status == (200 if may else 403)
        assert answer.headers.get("access-control-allow-origin") == (origin if may else None)
        preflight = get(server, "/lightstreamer/control.txt", method="OPTIONS", headers=header)
        assert preflight.status == (204 if may else 403)


def test_tls(tmp_path: Path) -> None:
    signed = signed_by(authority(), "gateway")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_bytes(signed.pem())
    key.write_bytes(signed.key_pem())
    settings = {"tls_certificate": str(certificate), "tls_key": str(key)}
    pages = {"/page": Page("text/plain", b"there")}
    with (
        running(settings, pages=pages) as server,
        WebSocket(server, tls=True) as one,
        WebSocket(server, tls=True) as two,
    ):
        for client in (one, two):
            client.open_session()
            client.subscribe("secret", schema="n filler")
        for n in range(20):
            server.publish("secret", {"n": str(n), "filler": str(n) * 5000})
        for n in range(20):
            assert one.line() == two.line() == f"U,1,1,{n}|{str(n) * 5000}"
        raw = connect(server, tls=True)
        assert isinstance(raw, ssl.SSLSocket)
        raw.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert Answer(raw).body == "there"
        plain = connect(server)
        plain.sendall(b"GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in plain.recv(100)


def test_tls_that_cannot_be_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "certificate.pem").write_text("nonsense")
    settings = {"tls_certificate": str(tmp_path / "certificate.pem"), "tls_key": str(tmp_path / "key.pem")}
    with pytest.raises(BadInput, match="not usable for TLS"), running(settings):
        pass
    with pytest.raises(ValueError, match="belong together"):
        ServerSettings.model_validate({"tls_key": tmp_path / "key.pem"})
