"""Which TLCP a client speaks, and what that allows."""

from __future__ import annotations

import re
from dataclasses import dataclass

NEWEST_MINOR = 5
SUBPROTOCOL_SUFFIX = ".lightstreamer.com"

_NAME = re.compile(r"TLCP-2\.(\d)\.(\d{1,3})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Version:
    """TLCP 2.x; a change of the third number never changes the wire."""

    minor: int

    @property
    def has_diffs(self) -> bool:
        """`^P` and `^T` values came with 2.4."""
        return self.minor >= 4

    @property
    def has_message_response(self) -> bool:
        """The third argument of MSGDONE came with 2.5."""
        return self.minor >= 5


NEWEST = Version(NEWEST_MINOR)


def version_named(name: str) -> Version | None:
    """Of "TLCP-2.4.0", as HTTP requests carry it; None when this server does not speak it."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[1]) > NEWEST_MINOR:
        return None
    return Version(int(match[1]))


def offered_subprotocol(header: str) -> tuple[str, Version] | None:
    """The first of the offered WebSocket subprotocols that this server speaks."""
    for offer in header.split(","):
        name = offer.strip()
        if name.endswith(SUBPROTOCOL_SUFFIX):
            version = version_named(name.removesuffix(SUBPROTOCOL_SUFFIX))
            if version is not None:
                return name, version
    return None
