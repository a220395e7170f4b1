from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol.command_reading import command
from streamgauge.gateway.protocol.commands import Command
from streamgauge.gateway.protocol.requests import (
    NAMES,
    BadRequest,
    RequestLine,
    http_requests,
    websocket_requests,
)
from tests.proof import tries

# As official clients send it, cut up so that random recombination gets past the first checks.
PIECES = [
    *sorted(NAMES),
    *("LS_reqId", "LS_op", "LS_subId", "LS_session", "LS_mode", "LS_group", "LS_schema", "LS_snapshot"),
    *("LS_requested_max_frequency", "LS_requested_buffer_size", "LS_requested_max_bandwidth", "LS_ack"),
    *(
        "LS_polling",
        "LS_polling_millis",
        "LS_idle_millis",
        "LS_recovery_from",
        "LS_cause_code",
        "LS_selector",
    ),
    *("LS_message", "LS_msg_prog", "LS_sequence", "LS_outcome", "LS_max_wait", "LS_content_length"),
    *(
        "add",
        "delete",
        "reconf",
        "constrain",
        "force_rebind",
        "destroy",
        "activate",
        "MERGE",
        "COMMAND",
        "DISTINCT",
    ),
    *(
        "true",
        "false",
        "unlimited",
        "unfiltered",
        "1",
        "0",
        "-1",
        "3.5",
        "99999999999999999999",
        "key%20command",
    ),
    *("=", "=", "&", "&", "\r\n", "\r\n", "\n", "%", "%20", "%ff", "+", " ", "é", "\x00", "😀", "\ud800"),
]


@pytest.mark.proof
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=40).map("".join),
    st.text(max_size=20),
)
@tries(2000, 120_000)
def test_no_text_makes_the_parser_raise(text: str, query: str) -> None:
    """Whatever comes is a command, or a BadRequest that says which code to answer with."""
    name, _, body = text.partition("\r\n")
    for line in [*websocket_requests(text), *http_requests(name, query, body)]:
        read = _read(line)
        if isinstance(read, BadRequest):
            assert read.code in range(13, 69)
            assert read.message
            assert read.request_id is None or read.request_id.isalnum()


def _read(line: RequestLine | BadRequest) -> Command | BadRequest:
    if isinstance(line, BadRequest):
        return line
    try:
        return command(line)
    except BadRequest as bad:
        return bad


def test_one_message_may_carry_a_batch() -> None:
    lines = list(websocket_requests("control\r\nLS_reqId=1&LS_op=add\r\nLS_reqId=2&LS_op=delete&LS_subId=7"))
    assert lines == [
        RequestLine("control", {"LS_reqId": "1", "LS_op": "add"}),
        RequestLine("control", {"LS_reqId": "2", "LS_op": "delete", "LS_subId": "7"}),
    ]


@pytest.mark.parametrize(
    "text", ["wsok", "wsok\r\n", "heartbeat\r\n", "heartbeat\r\n\r\n", "bind_session\r\n"]
)
def test_some_requests_need_no_parameters(text: str) -> None:
    [line] = websocket_requests(text)
    assert isinstance(line, RequestLine)
    assert line.parameters == {}


def test_values_are_decoded_and_names_are_not() -> None:
    [line] = websocket_requests("msg\r\nLS_message=a%26b%3Dc%0D%0A%20%C3%A9+&LS_reqId=1")
    assert line == RequestLine("msg", {"LS_message": "a&b=c\r\n é+", "LS_reqId": "1"})


def test_a_bad_line_leaves_its_neighbours_alone_and_keeps_its_id() -> None:
    good, bad, also_good = websocket_requests(
        "control\r\nLS_reqId=1&a=b\r\nLS_reqId=2&x=%zz\r\nLS_reqId=3&a=b"
    )
    assert isinstance(good, RequestLine)
    assert isinstance(also_good, RequestLine)
    assert isinstance(bad, BadRequest)
    assert (bad.code, bad.request_id) == (67, "2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "control",
        "control\r\n",
        "control\nLS_reqId=1",
        "control\r\nLS_reqId",
        "control\r\n=1",
        "control\r\nLS_reqId=1&&",
        "control\r\nLS_reqId=1&LS_reqId=2",
        "create_session\r\na=b\r\nc=d",
        "control\r\n" + "&".join(f"p{n}=1" for n in range(200)),
    ],
)
def test_malformed_requests_are_named_so(text: str) -> None:
    [bad] = websocket_requests(text)
    assert isinstance(bad, BadRequest)
    assert bad.code == 67


def test_a_session_in_the_query_holds_for_every_line_of_the_body() -> None:
    query = "LS_protocol=TLCP-2.5.0&LS_session=S1"
    lines = list(http_requests("control", query, "LS_reqId=1\r\nLS_reqId=2&LS_session=S2\r\n"))
    assert [line.parameters["LS_session"] for line in lines if isinstance(line, RequestLine)] == ["S1", "S2"]


def test_a_bad_query_is_told() -> None:
    [bad] = http_requests("control", "LS_session", "LS_reqId=1")
    assert isinstance(bad, BadRequest)
    assert bad.code == 67
