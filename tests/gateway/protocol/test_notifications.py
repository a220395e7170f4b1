from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamgauge.gateway.protocol import notifications as n
from streamgauge.gateway.protocol.commands import UNFILTERED, UNLIMITED, Frequency
from streamgauge.gateway.protocol.versions import Version

from ...core.properties import untimed
from .strategies import texts, tricky


def test_lines_as_the_protocol_has_them() -> None:
    assert n.connection_ok("S1", 50_000, 5000, None) == b"CONOK,S1,50000,5000,*\r\n"
    assert (
        n.connection_ok("S1", 50_000, 5000, "push.example:81") == b"CONOK,S1,50000,5000,push.example:81\r\n"
    )
    assert n.connection_error(2, "Requested Adapter Set not available") == (
        b"CONERR,2,Requested Adapter Set not available\r\n"
    )
    assert n.loop() == b"LOOP,0\r\n"
    assert n.progress(15) == b"PROG,15\r\n"
    assert n.sync(25) == b"SYNC,25\r\n"
    assert n.request_ok("7") == b"REQOK,7\r\n"
    assert n.request_error("7", 19, "no such") == b"REQERR,7,19,no such\r\n"
    assert n.request_error(None, 67, "no such") == b"ERROR,67,no such\r\n"
    assert n.subscribed(3, 1, ("a",) * 10, by_command=False) == b"SUBOK,3,1,10\r\n"
    assert n.subscribed(3, 1, ("x", "key", "command"), by_command=True) == b"SUBCMD,3,1,3,2,3\r\n"
    assert n.unsubscribed(3) == b"UNSUB,3\r\n"
    assert n.end_of_snapshot(3, 1) == b"EOS,3,1\r\n"
    assert n.snapshot_cleared(3, 1) == b"CS,3,1\r\n"
    assert n.overflow(3, 1, 5) == b"OV,3,1,5\r\n"
    assert n.end(31, "closed") == b"END,31,closed\r\n"


def test_rates_are_decimal_numbers() -> None:
    assert n.configured(3, Frequency(3)) == b"CONF,3,3.0,filtered\r\n"
    assert n.configured(3, Frequency(0.000001)) == b"CONF,3,0.000001,filtered\r\n"
    assert n.configured(3, UNLIMITED) == b"CONF,3,unlimited,filtered\r\n"
    assert n.configured(3, UNFILTERED) == b"CONF,3,unlimited,unfiltered\r\n"
    assert n.constraints(50.5) == b"CONS,50.5\r\n"
    assert n.constraints(None) == b"CONS,unlimited\r\n"


def test_the_response_of_a_message_came_with_2_5() -> None:
    assert n.message_done(Version(5), "chat", 3, "ok") == b"MSGDONE,chat,3,ok\r\n"
    assert n.message_done(Version(5), None, 3, "") == b"MSGDONE,*,3,\r\n"
    assert n.message_done(Version(4), "chat", 3, "ok") == b"MSGDONE,chat,3\r\n"
    assert n.message_failed(None, 3, 38, "too, late") == b"MSGFAIL,*,3,38,too%2C late\r\n"


@given(st.lists(texts | tricky, min_size=1, max_size=4))
@untimed
def test_any_text_survives_as_an_argument(arguments: list[str]) -> None:
    raw = n.line("END", *arguments)
    assert raw.endswith(b"\r\n")
    assert raw.count(b"\r\n") == 1
    assert n.read_line(raw.decode().removesuffix("\r\n")) == ("END", arguments)


def test_half_a_surrogate_pair_does_not_break_a_line() -> None:
    assert n.end(0, "\ud800") == b"END,0,?\r\n"


def test_the_fields_of_an_update_are_left_alone() -> None:
    assert n.read_line("U,3,1,a,b%2C|^3") == ("U", ["3", "1", "a,b%2C|^3"])
    assert n.read_line("PROBE") == ("PROBE", [])
