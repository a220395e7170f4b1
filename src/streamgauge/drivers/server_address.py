"""Address of a server that is given as a URL; user name and password come by reference, beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from streamgauge.core.errors import BadInput


@dataclass(frozen=True)
class ServerAddress:
    """What is shown of it holds no secret."""

    scheme: str
    host: str
    port: int
    path: str
    username: str | None = field(repr=False)
    password: str | None = field(repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" + (f"/{self.path}" if self.path else "")


def parse_address(
    url: str, scheme: str, usual_port: int, where: str, client: Mapping[str, object]
) -> ServerAddress:
    """`client`: username and password; they are not to be in an address that is written down."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or usual_port
    except ValueError as error:
        raise BadInput(f"{where}: {url}: {error}") from None
    if parts.username or parts.password:
        raise BadInput(f"{where}: holds a secret in the clear; write client: {{password: ${{NAME}}}} instead")
    if parts.scheme != scheme or not host or parts.query:
        raise BadInput(f"{where}: {url} is not an address; allowed: {scheme}://host:port")
    if unknown := sorted(client.keys() - {"username", "password"}):
        raise BadInput(f"client.{unknown[0]}: unknown setting; allowed: username, password")
    given = {name: str(value) for name, value in client.items()}
    return ServerAddress(
        scheme, host, port, parts.path.strip("/"), given.get("username"), given.get("password")
    )
