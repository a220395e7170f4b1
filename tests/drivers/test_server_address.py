from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.server_address import ServerAddress, parse_address


def parsed(url: str, **client: str) -> ServerAddress:
    return parse_address(url, "redis", 6379, "target r: settings.url", client)


def test_an_address_has_the_usual_port_and_shows_no_secret() -> None:
    address = parsed("redis://host/3", username="me", password="hidden")
    assert (address.host, address.port, address.path) == ("host", 6379, "3")
    assert (address.username, address.password) == ("me", "hidden")
    assert str(address) == "redis://host:6379/3"
    assert "hidden" not in repr(address)
    assert str(parsed("redis://[::1]:7000")) == "redis://[::1]:7000"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("rediss://127.0.0.1:1", "is not an address; allowed: redis://host:port"),
        ("127.0.0.1:1", "is not an address"),
        ("redis://", "is not an address"),
        ("redis://127.0.0.1:none", "target r: settings.url: redis://127.0.0.1:none: "),
        ("redis://me:word@127.0.0.1:1", "holds a secret in the clear"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parsed(url)


def test_an_unknown_client_setting_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"client.timeout: unknown setting; allowed: username, password"):
        parsed("redis://host", timeout="3")
