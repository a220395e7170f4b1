"""Where a gateway is, what its clients ask for there, and how they get in."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from pydantic import field_validator

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import LOGIN, RUN_USER, run_token
from streamgauge.drivers.swarm import ADAPTER_SET
from streamgauge.spec.model import SpecModel
from streamgauge.spec.reach import FileName

Mode = Literal["MERGE", "DISTINCT", "RAW", "COMMAND"]
MODES: tuple[Mode, ...] = get_args(Mode)
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True)
class GatewayAddress:
    host: str
    port: int
    is_secure: bool

    @property
    def url(self) -> str:
        """Of its WebSockets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.is_secure else 'ws'}://{host}:{self.port}/lightstreamer"

    @property
    def is_here(self) -> bool:
        """On this machine, by a name that says so."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def parse_gateway(text: str) -> GatewayAddress:
    """ValueError for what is none."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    is_bare = host and parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username)
    if host is None or not is_bare or parts.scheme not in _PORTS:
        raise ValueError(
            f"{text!r} is no address of a gateway; allowed: http://host:port, https://host:port (or ws, wss)"
        )
    return GatewayAddress(host, port or _PORTS[parts.scheme], parts.scheme in ("https", "wss"))


@dataclass(frozen=True)
class GatewayAccess:
    address: GatewayAddress
    adapter_set: str = ADAPTER_SET
    data_adapter: str | None = None
    """None: the only one, or the server's own default."""
    mode: Mode = "MERGE"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = None
    """A file of certificates to trust instead of the system's."""

    def context(self) -> ssl.SSLContext | None:
        """None without TLS. The gateway's certificate, and its name in it, are checked always."""
        if not self.address.is_secure:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            raise BadInput(
                f"--gateway-ca {self.ca}: no certificates can be read there: {error}; it is a PEM file, and "
                "must be on every host that has clients"
            ) from None


class AccessSettings(SpecModel):
    """What a target says of its gateway."""

    gateway: str | None = None
    """http://host:port or https://host:port of a running gateway; by default one is started for each
    case."""
    adapter_set: str = ADAPTER_SET
    data_adapter: str | None = None
    """None: the gateway's only one, or its default."""
    mode: Mode = "MERGE"
    user: str | None = None
    password: str | None = None
    """Of a gateway that wants to know its clients: `${NAME}`."""
    ca: FileName | None = None
    """For https: a PEM file to trust instead of the system's certificates."""

    @field_validator("gateway")
    @classmethod
    def _address(cls, gateway: str | None) -> str | None:
        if gateway is not None:
            parse_gateway(gateway)
        return gateway


def access_to(settings: AccessSettings, endpoints: Mapping[str, str]) -> GatewayAccess | None:
    """To the gateway that the target names, else to the one that was started for the case."""
    if settings.gateway is None:
        if "gateway" not in endpoints:
            return None
        # It is ours: nothing of it is a setting of the target's.
        address = parse_gateway(endpoints["gateway"])
        if f"gateway{LOGIN}" not in endpoints:
            return GatewayAccess(address, mode=settings.mode)
        return GatewayAccess(address, mode=settings.mode, user=RUN_USER, password=run_token())
    return GatewayAccess(
        parse_gateway(settings.gateway),
        settings.adapter_set,
        settings.data_adapter,
        settings.mode,
        settings.user,
        settings.password,
        settings.ca,
    )
