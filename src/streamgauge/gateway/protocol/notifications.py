"""Lines that the server writes, and their reading by clients. A line is bytes and ends with CRLF.

DATA_TAGS are counted by both sides from the start of a session: the count is where recovery starts.
"""

from __future__ import annotations

from streamgauge.gateway.protocol import percent
from streamgauge.gateway.protocol.commands import Frequency
from streamgauge.gateway.protocol.versions import Version

DATA_TAGS = frozenset(
    {"U", "SUBOK", "SUBCMD", "UNSUB", "EOS", "CS", "OV", "CONF", "MSGDONE", "MSGFAIL"},
)
WSOK = b"WSOK\r\n"
PROBE = b"PROBE\r\n"
REQOK = b"REQOK\r\n"
"""The answer to a heartbeat by HTTP."""


def line(tag: str, *arguments: object) -> bytes:
    return (
        ",".join([tag, *(percent.encode_argument(str(a)) for a in arguments)]).encode(errors="replace")
        + b"\r\n"
    )


def connection_ok(
    session: str, request_limit_bytes: int, keepalive_ms: int, control_link: str | None
) -> bytes:
    return line("CONOK", session, request_limit_bytes, keepalive_ms, control_link or "*")


def connection_error(code: int, message: str) -> bytes:
    return line("CONERR", code, message)


def end(code: int, message: str) -> bytes:
    return line("END", code, message)


def loop(delay_ms: int = 0) -> bytes:
    return line("LOOP", delay_ms)


def progress(count: int) -> bytes:
    return line("PROG", count)


def sync(seconds: int) -> bytes:
    return line("SYNC", seconds)


def server_name(name: str) -> bytes:
    return line("SERVNAME", name)


def client_address(address: str) -> bytes:
    return line("CLIENTIP", address)


def constraints(bandwidth_kbps: float | None) -> bytes:
    return line("CONS", "unlimited" if bandwidth_kbps is None else _decimal(bandwidth_kbps))


def request_ok(request_id: str) -> bytes:
    return line("REQOK", request_id)


def request_error(request_id: str | None, code: int, message: str) -> bytes:
    """ERROR when it is not known which request it was."""
    return line("ERROR", code, message) if request_id is None else line("REQERR", request_id, code, message)


def subscribed(sub_id: int, items: int, fields: tuple[str, ...], *, by_command: bool) -> bytes:
    if by_command:
        key, command = fields.index("key") + 1, fields.index("command") + 1
        return line("SUBCMD", sub_id, items, len(fields), key, command)
    return line("SUBOK", sub_id, items, len(fields))


def unsubscribed(sub_id: int) -> bytes:
    return line("UNSUB", sub_id)


def configured(sub_id: int, frequency: Frequency) -> bytes:
    rate = "unlimited" if frequency.per_s is None else _decimal(frequency.per_s)
    return line("CONF", sub_id, rate, "filtered" if frequency.filtered else "unfiltered")


def end_of_snapshot(sub_id: int, item: int) -> bytes:
    return line("EOS", sub_id, item)


def snapshot_cleared(sub_id: int, item: int) -> bytes:
    return line("CS", sub_id, item)


def overflow(sub_id: int, item: int, lost: int) -> bytes:
    return line("OV", sub_id, item, lost)


def message_done(version: Version, sequence: str | None, number: int, response: str) -> bytes:
    given = [sequence or "*", number] + ([response] if version.has_message_response else [])
    return line("MSGDONE", *given)


def message_failed(sequence: str | None, number: int, code: int, message: str) -> bytes:
    return line("MSGFAIL", sequence or "*", number, code, message)


def update_prefix(sub_id: int, item: int) -> bytes:
    return b"U,%d,%d," % (sub_id, item)


def read_line(text: str) -> tuple[str, list[str]]:
    """Tag and arguments of a line without its CRLF; of an update the fields stay as they are."""
    tag, comma, rest = text.partition(",")
    if tag == "U":
        return tag, rest.split(",", 2)
    return tag, [percent.decode(argument) for argument in rest.split(",")] if comma else []


def _decimal(number: float) -> str:
    """Never in exponent form, at least one digit after the dot."""
    text = f"{number:.12f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
