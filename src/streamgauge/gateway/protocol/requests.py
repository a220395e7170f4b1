"""From the text of a WebSocket message, or the path and body of an HTTP request, to request lines.

    <name> CRLF <parameter>=<value>&… [CRLF <parameter>=<value>&…]        WebSocket
    POST /lightstreamer/<name>.txt?<query>, body: the parameter lines     HTTP

A line that cannot be read becomes a BadRequest in its place: its neighbours in the batch stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streamgauge.gateway.protocol import percent
from streamgauge.gateway.protocol.codes import ControlCode

NAMES = frozenset({"wsok", "create_session", "bind_session", "control", "msg", "heartbeat"})
_IN_BATCHES = frozenset({"control", "msg"})
_MAY_BE_EMPTY = frozenset({"wsok", "heartbeat", "bind_session", "create_session"})
_MAX_PARAMETERS = 100


@dataclass(frozen=True, slots=True)
class RequestLine:
    name: str
    parameters: dict[str, str]


@dataclass(eq=False)
class BadRequest(Exception):
    """A request that cannot be carried out as it is; `request_id` if it could be read."""

    code: int
    message: str
    request_id: str | None = None
    name: str = "control"
    """What was asked for decides which response tells of the error."""


def websocket_requests(text: str) -> Iterator[RequestLine | BadRequest]:
    """All requests of one message, each read when it is asked for: there may be a thousand."""
    name, _, rest = text.partition("\r\n")
    return _requests(name, rest, {})


def http_requests(name: str, query: str, body: str) -> Iterator[RequestLine | BadRequest]:
    """All requests of one POST; a session named in the query holds for every line of the body."""
    try:
        shared = _parameters(query) if query else {}
    except ValueError as error:
        return iter([BadRequest(ControlCode.MALFORMED, f"query: {error}", None, name)])
    defaults = {key: value for key, value in shared.items() if key == "LS_session"}
    return _requests(name, body, defaults)


def _requests(name: str, rest: str, defaults: dict[str, str]) -> Iterator[RequestLine | BadRequest]:
    """At least one."""
    if name not in NAMES:
        shown = name[:40].encode("ascii", "replace").decode()
        return iter([BadRequest(ControlCode.MALFORMED, f"unknown request {shown!r}", None, name[:40])])
    lines = rest.split("\r\n") if rest else [""]
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if len(lines) > 1 and name not in _IN_BATCHES:
        return iter([BadRequest(ControlCode.MALFORMED, f"{name} takes one line of parameters", None, name)])
    return (_request(name, line, defaults) for line in lines)


def _request(name: str, line: str, defaults: dict[str, str]) -> RequestLine | BadRequest:
    if not line and name not in _MAY_BE_EMPTY:
        return BadRequest(ControlCode.MALFORMED, f"{name} without parameters", None, name)
    try:
        given = _parameters(line) if line else {}
    except ValueError as error:
        return BadRequest(ControlCode.MALFORMED, str(error), _readable_id(line), name)
    return RequestLine(name, {**defaults, **given} if defaults else given)


def _parameters(line: str) -> dict[str, str]:
    pairs = line.split("&")
    if len(pairs) > _MAX_PARAMETERS:
        raise ValueError(f"more than {_MAX_PARAMETERS} parameters")
    parameters: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ValueError("a parameter is not of the form name=value")
        if key in parameters:
            raise ValueError("a parameter is given twice")
        parameters[key] = percent.decode(value)
    return parameters


def _readable_id(line: str) -> str | None:
    """The request id of a line that is bad elsewhere, so that the client can tell which one it was."""
    for pair in line.split("&"):
        key, _, value = pair.partition("=")
        if key == "LS_reqId" and value.isascii() and value.isalnum():
            return value
    return None
