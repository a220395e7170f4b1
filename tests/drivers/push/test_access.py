from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.push.access import GatewayAccess, parse_gateway


@pytest.mark.parametrize(
    ("text", "url", "is_here"),
    [
        ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/lightstreamer", True),
        ("https://gw.example.org", "wss://gw.example.org:443/lightstreamer", False),
        ("ws://localhost", "ws://localhost:80/lightstreamer", True),
        ("wss://[::1]:9/", "wss://[::1]:9/lightstreamer", True),
    ],
)
def test_addresses_of_gateways(text: str, url: str, is_here: bool) -> None:
    found = parse_gateway(text)
    assert (found.url, found.is_here) == (url, is_here)


@pytest.mark.parametrize("text", ["host:8080", "http://host:8080/path", "ftp://host", "http://host:port", ""])
def test_what_is_no_address_of_a_gateway(text: str) -> None:
    with pytest.raises(ValueError, match="is no address of a gateway; allowed: http://host:port"):
        parse_gateway(text)


def test_certificates_are_checked_always(tmp_path: Path) -> None:
    assert GatewayAccess(parse_gateway("http://h:1")).context() is None
    checked = GatewayAccess(parse_gateway("https://h:1")).context()
    assert checked is not None
    assert checked.check_hostname
    (tmp_path / "ca.pem").write_text("no certificate")
    for ca in ("ca.pem", "missing.pem"):
        with pytest.raises(BadInput, match=rf"--gateway-ca .*{ca}: no certificates can be read there"):
            GatewayAccess(parse_gateway("https://h:1"), ca=str(tmp_path / ca)).context()


def test_a_password_is_not_shown() -> None:
    assert "pass-word" not in repr(GatewayAccess(parse_gateway("http://h:1"), password="pass-word"))
