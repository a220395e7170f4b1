"""What is said of a server that does not let us in: the locks alone, there is no Kafka behind them."""

from __future__ import annotations

import datetime
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import Refused, Unreachable
from streamgauge.drivers.kafka.topics import KafkaTopics
from streamgauge.systems.certificates import Authority, Signed

QUIET = {"log_level": 0}


@contextmanager
def door(own: Signed, trusted: Authority, folder: Path) -> Iterator[str]:
    """Where clients have to show a certificate; its address."""
    (folder / "server.pem").write_text(own.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    context.load_verify_locations(cadata=trusted.certificate_pem)
    context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                incoming, _ = listener.accept()
                incoming.settimeout(5)
                with suppress(OSError), closing(incoming), context.wrap_socket(incoming, True) as secured:
                    secured.recv(1)

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        serving.join(60)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new("test")


def said_of(address: str, folder: Path, trusted: Authority, own: Signed | None, **more: Any) -> str:
    """At once, however long one would wait for an answer."""
    (folder / "ca.pem").write_text(trusted.certificate_pem)
    client = {"bootstrap.servers": address, "security.protocol": "SSL", **QUIET, **more}
    client["ssl.ca.location"] = str(folder / "ca.pem")
    if own is not None:
        (folder / "own.pem").write_text(own.pem)
        client |= {"ssl.certificate.location": str(folder / "own.pem")}
        client |= {"ssl.key.location": str(folder / "own.pem")}
    with pytest.raises(Refused) as refused:
        KafkaTopics(client).check_reachable(120)
    return str(refused.value)


LONG_AGO = datetime.timedelta(days=3)


def test_a_server_whose_certificate_has_expired(authority: Authority, tmp_path: Path) -> None:
    with door(authority.sign("broker", "127.0.0.1", ended_ago=LONG_AGO), authority, tmp_path) as address:
        said = said_of(address, tmp_path, authority, authority.sign("me"))
    assert said == (
        f"Kafka at {address} does not let us in: its certificate is not to be trusted: certificate has "
        "expired; check the target's security settings"
    )


def test_a_server_of_an_authority_that_we_do_not_know(authority: Authority, tmp_path: Path) -> None:
    with door(authority.sign("broker", "127.0.0.1"), authority, tmp_path) as address:
        said = said_of(address, tmp_path, Authority.new("other"), None)
    # Which of the two depends on how much of its chain the server shows.
    assert re.search(r"not to be trusted: (unable to get local issuer|self-signed) certificate", said)


def test_a_server_with_the_certificate_of_another_host(authority: Authority, tmp_path: Path) -> None:
    with door(authority.sign("broker", "127.0.0.9"), authority, tmp_path) as address:
        said = said_of(address, tmp_path, authority, authority.sign("me"))
    assert "not to be trusted: IP address mismatch, certificate is not valid for '127.0.0.1'" in said


@pytest.mark.parametrize(
    ("trouble", "alert"),
    [
        ("none", "certificate required"),
        ("expired", "certificate expired"),
        ("of another authority", "unknown ca"),
    ],
)
def test_a_certificate_of_ours_that_is_not_taken(
    authority: Authority, tmp_path: Path, trouble: str, alert: str
) -> None:
    own = {
        "none": None,
        "expired": authority.sign("me", ended_ago=LONG_AGO),
        "of another authority": Authority.new("test").sign("me"),
    }[trouble]
    with door(authority.sign("broker", "127.0.0.1"), authority, tmp_path) as address:
        said = said_of(address, tmp_path, authority, own)
    assert f"does not let us in: it ends the TLS handshake: {alert}; check" in said


def test_who_speaks_no_tls_is_told_what_may_be_the_matter(authority: Authority, tmp_path: Path) -> None:
    with door(authority.sign("broker", "127.0.0.1"), authority, tmp_path) as address:
        topics = KafkaTopics({"bootstrap.servers": address})
        said = r"within 1 s: it speaks TLS, and the target's security\.protocol is PLAINTEXT"
        with pytest.raises(Unreachable, match=said):
            topics.check_reachable(1)
