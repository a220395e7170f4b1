from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest

from streamgauge.systems.certificates import Authority, Signed


def handshake(trusted: str, server: Signed, host: str, folder: Path) -> None:
    """Between two ends in memory; ssl.SSLError unless the client believes the server."""
    own = folder / "own.pem"
    own.write_text(server.pem)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(own)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    there = serving.wrap_bio(to_server, to_client, server_side=True)
    here = ssl.create_default_context(cadata=trusted).wrap_bio(to_client, to_server, server_hostname=host)
    is_done = {here: False, there: False}
    for _ in range(10):
        for end in is_done:
            try:
                end.do_handshake()
                is_done[end] = True
            except ssl.SSLWantReadError:
                continue
        if all(is_done.values()):
            return
    raise AssertionError("they do not come to an end")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new("test")


def test_what_it_signs_is_believed_at_its_address(authority: Authority, tmp_path: Path) -> None:
    handshake(authority.certificate_pem, authority.sign("broker", "127.0.0.1"), "127.0.0.1", tmp_path)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [("host", "IP address mismatch"), ("authority", "unable to get local issuer"), ("time", "has expired")],
)
def test_what_is_wrong_with_it_is_seen(authority: Authority, tmp_path: Path, trouble: str, said: str) -> None:
    ended = datetime.timedelta(days=3) if trouble == "time" else None
    signed = authority.sign("broker", "127.0.0.1", ended_ago=ended)
    trusted = (
        Authority.new("another" if trouble == "authority" else "test")
        if trouble == "authority"
        else authority
    )
    host = "127.0.0.2" if trouble == "host" else "127.0.0.1"
    with pytest.raises(ssl.SSLCertVerificationError, match=said):
        handshake(trusted.certificate_pem, signed, host, tmp_path)


def test_a_key_is_not_shown(authority: Authority) -> None:
    assert repr(authority.sign("me")) == "Signed(…)"
