from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import outside_of, run_token, with_port
from streamgauge.core.served_files import IDENTITY_VARIABLE


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.7", "::1", "localhost"])
def test_an_address_of_this_host_alone_needs_no_token(address: str) -> None:
    assert outside_of(address, "identity") is None


def test_agents_make_the_same_token_of_the_runs_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = outside_of("10.0.0.1", "identity of this run")
    assert outside is not None
    assert outside.address == "10.0.0.1"
    assert len(outside.token) == 64
    assert outside.token not in repr(outside)
    monkeypatch.setenv(IDENTITY_VARIABLE, "identity of this run")
    assert run_token() == outside.token
    monkeypatch.setenv(IDENTITY_VARIABLE, "identity of another run")
    assert run_token() != outside.token
    monkeypatch.delenv(IDENTITY_VARIABLE)
    with pytest.raises(BadInput, match="only agents of the run"):
        run_token()


def test_an_address_with_colons_is_told_from_its_port() -> None:
    assert (with_port("10.0.0.1", 9), with_port("fd00::2", 9)) == ("10.0.0.1:9", "[fd00::2]:9")
