"""Which web pages may use the server, and what their browsers have to be told."""

from __future__ import annotations

from collections.abc import Iterable

_ANY = "*"


class Origins:
    """Origins are `https://example.com`, `https://*.example.com`, or `*` for all."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = {origin.lower().rstrip("/") for origin in allowed}

    def allows(self, origin: str | None) -> bool:
        """Whoever sends no origin is no browser, and could send any."""
        if origin is None or _ANY in self._allowed:
            return True
        given = origin.lower()
        return given in self._allowed or any(self._fits(given, a) for a in self._allowed if "//*." in a)

    def headers(self, origin: str | None) -> tuple[tuple[str, str], ...]:
        """What lets an allowed page read an answer."""
        if origin is None:
            return ()
        return (
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Credentials", "true"),
            ("Vary", "Origin"),
        )

    def preflight_headers(self, origin: str | None) -> tuple[tuple[str, str], ...]:
        return (
            *self.headers(origin),
            ("Access-Control-Allow-Methods", "POST, GET, OPTIONS"),
            ("Access-Control-Allow-Headers", "Content-Type"),
            ("Access-Control-Max-Age", "3600"),
        )

    @staticmethod
    def _fits(origin: str, pattern: str) -> bool:
        scheme, _, domain = pattern.partition("//*")
        return (
            origin.startswith(f"{scheme}//")
            and origin.endswith(domain)
            and len(origin) > len(scheme + domain) + 2
        )
