from __future__ import annotations

import pytest

from streamgauge.gateway.server.http_messages import BadHttp
from streamgauge.serve.requests import Cookies, Request, path_of


def test_a_path_is_decoded_piece_by_piece() -> None:
    assert path_of("/") == ()
    assert path_of("/runs/20260102-a%20b/report/") == ("runs", "20260102-a b", "report")
    assert path_of("/runs/%252e%252e/x") == ("runs", "%2e%2e", "x"), (
        "decoded once, it is a name like any other"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../etc",
        "/runs/%2e%2e/etc",
        "/runs/%2E./etc",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/%2fetc%2fpasswd",
        "/runs/..%5c..%5cetc",
        "/runs/a%00.csv",
        "/runs/a%0d%0aSet-Cookie:x",
        "/runs/.",
        "//evil.example/runs",
        "/runs/%ff",
    ],
)
def test_what_leads_away_is_no_path(path: str) -> None:
    with pytest.raises(BadHttp):
        path_of(path)


def test_cookies_are_read_by_name() -> None:
    request = Request("GET", (), {}, {"cookie": "a=1; streamgauge-1=x=y ;b"})
    assert Cookies.of(request).sent == {"a": "1", "streamgauge-1": "x=y", "b": ""}
    assert Cookies.of(Request("GET", (), {}, {})).sent == {}


def test_a_form_has_to_say_that_it_is_one() -> None:
    sent = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    assert Request("POST", (), {}, sent, b"a=1&a=%C3%A4").form == {"a": ["1", "ä"]}
    for bad in (
        Request("POST", (), {}, {"content-type": "text/plain"}, b"a=1"),
        Request("POST", (), {}, sent, "a=ä".encode()),
        Request("POST", (), {}, sent, b"&".join(b"a=%d" % n for n in range(500))),
    ):
        with pytest.raises(BadHttp):
            _ = bad.form
