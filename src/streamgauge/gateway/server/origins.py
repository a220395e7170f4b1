"""Which web pages may use the server, and what their browsers have to be told."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

_ANY = "*"
_LOCALHOST = "localhost"
Headers = tuple[tuple[str, str], ...]


class Origins:
    """Pages of the server's own address may always use it; others as `allowed` says, which are
    `https://example.com`, `https://*.example.com`, or `*` for all."""

    def __init__(self, allowed: Iterable[str], own_host: str = "") -> None:
        self._allowed = {origin.lower().rstrip("/") for origin in allowed}
        self._own_host = own_host.lower()

    def allows(self, origin: str | None, host: str = "") -> bool:
        """`host`: by which name the server was asked. Whoever sends no origin is no browser, and could
        send any."""
        return origin is None or _ANY in self._allowed or self._is_named(origin) or self._is_own(origin, host)

    def headers(self, origin: str | None) -> Headers:
        """What lets an allowed page read an answer. Where all may, none may do so in a user's name."""
        if origin is None:
            return ()
        if _ANY in self._allowed and not self._is_named(origin):
            return (("Access-Control-Allow-Origin", _ANY),)
        return (
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Credentials", "true"),
            ("Vary", "Origin"),
        )

    def preflight_headers(self, origin: str | None) -> Headers:
        return (
            *self.headers(origin),
            ("Access-Control-Allow-Methods", "POST, GET, OPTIONS"),
            ("Access-Control-Allow-Headers", "Content-Type"),
            ("Access-Control-Max-Age", "3600"),
        )

    def _is_named(self, origin: str) -> bool:
        given = origin.lower()
        return given in self._allowed or any(self._fits(given, a) for a in self._allowed if "//*." in a)

    def _is_own(self, origin: str, host: str) -> bool:
        """The page came from where it asks now. A name is believed only if it is ours: whoever has a name
        can let it lead here, and would be at home then."""
        scheme, _, authority = origin.lower().partition("://")
        if scheme not in ("http", "https") or authority != host.lower():
            return False
        return _name(host) == self._own_host or not is_rebindable(host)

    @staticmethod
    def _fits(origin: str, pattern: str) -> bool:
        scheme, _, domain = pattern.partition("//*")
        return (
            origin.startswith(f"{scheme}//")
            and origin.endswith(domain)
            and len(origin) > len(scheme + domain) + 2
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can come there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == _LOCALHOST


def is_rebindable(host: str) -> bool:
    """Whether a Host header holds a name that anybody could have let lead here; addresses cannot be."""
    name = _name(host)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name != _LOCALHOST
    return False


def _name(host: str) -> str:
    """Without the port."""
    given = host.lower()
    if given.startswith("["):
        return given[1:].partition("]")[0]
    return given.partition(":")[0]
