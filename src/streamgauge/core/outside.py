"""What a run starts on the launcher's host and agents on other hosts use: where, and by which token.

Whatever listens on an address that others reach lets nobody in without the token. It is made of the run's
identity (core/run_identity), which agents have and strangers have not, so it travels nowhere by itself.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import socket
from dataclasses import dataclass, field

from streamgauge.core.errors import BadInput
from streamgauge.core.served_files import IDENTITY_VARIABLE

LOGIN = "_login"
"""Behind the name of an endpoint: clients have to log in there, with the run's token."""
RUN_USER = "run_token"
"""Who logs in with it; as part of a setting, its name says that a secret follows."""
_PURPOSE = b"streamgauge: what a run has started"


@dataclass(frozen=True)
class Outside:
    address: str
    """The launcher's, as hosts of the cluster reach it."""
    token: str = field(repr=False)


def outside_of(address: str, identity: str) -> Outside | None:
    """None where the address is this host's alone: then all agents are here."""
    if _is_loopback(address):
        return None
    return Outside(address, _token(identity))


def run_token() -> str:
    """In an agent: the token of its run."""
    identity = os.environ.get(IDENTITY_VARIABLE)
    if not identity:
        raise BadInput(f"{IDENTITY_VARIABLE} is not set: only agents of the run get at what it has started")
    return _token(identity)


def own_address(towards: str = "192.0.2.1", port: int = 9) -> str:
    """The address that this host has towards another; nothing is sent."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(towards, port, type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        raise BadInput(f"{towards}: no such host: {error}") from error
    with socket.socket(family, kind) as probe:
        try:
            probe.connect(address)
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def with_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _token(identity: str) -> str:
    return hmac.digest(identity.encode(), _PURPOSE, "sha256").hex()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
