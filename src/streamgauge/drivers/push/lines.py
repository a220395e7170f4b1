"""The lines of TLCP that a swarm's sessions look at. Every session has one subscription, to one item."""

from __future__ import annotations

UPDATE, NEXT_UPDATE = b"U,1,1,", b"\r\nU,1,1,"
PROBE = b"PROBE"
OVERFLOW = b"OV,1,"
REFUSALS = (b"CONERR", b"REQERR", b"ERROR", b"END")


def is_subscribed(line: bytes) -> bool:
    """Told in this order: WSOK, CONOK …, SUBOK (of COMMAND, SUBCMD), CONF; updates may follow at once."""
    return line.startswith((b"SUBOK,1,", b"SUBCMD,1,"))
