from __future__ import annotations

import pytest

from streamgauge.drivers.push.access import GatewayAccess, parse_gateway
from streamgauge.drivers.push.requests import check_upgraded, requests_of, upgrade_request
from streamgauge.gateway.server.websocket_handshake import handshake


def test_a_gateway_takes_the_request_and_its_answer_fits() -> None:
    request, key = upgrade_request(parse_gateway("http://[::1]:8080"))
    first, *lines = request.decode().split("\r\n")
    assert first == "GET /lightstreamer HTTP/1.1"
    assert "Host: [::1]:8080" in lines
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
    answer, _, _ = handshake(headers)
    check_upgraded(answer.removesuffix(b"\r\n\r\n"), key)
    _, other = upgrade_request(parse_gateway("http://[::1]:8080"))
    with pytest.raises(ConnectionError, match="does not fit the key"):
        check_upgraded(answer, other)


def test_another_answer_is_told_in_its_own_words() -> None:
    with pytest.raises(ConnectionError, match=r"it answers 'HTTP/1\.1 404 Not Found'"):
        check_upgraded(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0", b"")


def test_who_one_is_is_said_only_where_it_was_given() -> None:
    address = parse_gateway("http://h:1")
    _, session, wanted = requests_of(GatewayAccess(address), "item", ("a", "b"), 2.5)
    assert b"LS_user" not in session
    assert b"LS_requested_max_frequency=2.5" in wanted
    assert b"LS_schema=a%20b" in wanted
    known = GatewayAccess(address, user="me", password="a&b", data_adapter="D")
    _, session, wanted = requests_of(known, "item", ("a",), "unfiltered")
    assert b"LS_user=me" in session
    assert b"LS_password=a%26b" in session
    assert b"LS_data_adapter=D" in wanted
