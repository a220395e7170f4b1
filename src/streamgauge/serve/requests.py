"""A request as pages see it, and what they answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from streamgauge.gateway.server.http_messages import BadHttp, Head

HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 200

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answer:
    """A whole one."""

    body: bytes = b""
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = HTML
    headers: Headers = ()


@dataclass(frozen=True)
class Flow:
    """One that goes on: pieces that are chunks already, so that all who get the same get the same bytes."""

    chunks: AsyncGenerator[bytes, None]
    content_type: str
    headers: Headers = ()


@dataclass(frozen=True)
class Refused(Exception):
    """What a request ends with when it may not be had, or is not there."""

    status: HTTPStatus
    message: str


@dataclass(frozen=True)
class Request:
    method: str
    path: tuple[str, ...]
    """Decoded, piece by piece: no piece has a slash in it, and none leads up."""
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""
    peer: str = ""
    """The address that it came from."""

    @classmethod
    def of(cls, head: Head, body: bytes, peer: str = "") -> Request:
        """Raises BadHttp for what cannot be a path of ours."""
        return cls(head.method, path_of(head.path), _fields(head.query), head.headers, body, peer)

    @property
    def form(self) -> Mapping[str, list[str]]:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _FORM:
            raise BadHttp(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send the form as {_FORM}")
        try:
            return _fields(self.body.decode("ascii"))
        except UnicodeDecodeError:
            raise BadHttp(HTTPStatus.BAD_REQUEST, "a form is sent in ASCII, percent-encoded") from None

    def asked(self, name: str) -> str:
        """A field of the query; empty when there is none."""
        return self.query.get(name, [""])[0]


@dataclass
class Cookies:
    """What a browser sent, by name."""

    sent: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request) -> Cookies:
        pairs = (part.strip().partition("=") for part in request.headers.get("cookie", "").split(";"))
        return cls({name: value for name, _, value in pairs if name})


def path_of(raw: str) -> tuple[str, ...]:
    """Split before it is decoded: an encoded slash stays in its piece, where it is refused."""
    pieces = [piece for piece in urlsplit(raw).path.split("/") if piece] if not raw.startswith("//") else None
    if pieces is None:
        raise BadHttp(HTTPStatus.BAD_REQUEST, "a path begins with one slash")
    try:
        found = tuple(unquote(piece, errors="strict") for piece in pieces)
    except UnicodeDecodeError:
        raise BadHttp(HTTPStatus.BAD_REQUEST, "a path is UTF-8, percent-encoded") from None
    if any(_leads_away(piece) for piece in found):
        raise BadHttp(HTTPStatus.NOT_FOUND, "there is no such page")
    return found


def _leads_away(piece: str) -> bool:
    return piece in (".", "..") or any(sign in piece for sign in "/\\") or not piece.isprintable()


def _fields(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeDecodeError):
        raise BadHttp(HTTPStatus.BAD_REQUEST, "these fields cannot be read") from None


def json_answer(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer(json.dumps(value, separators=(",", ":")).encode(), status, JSON)


def redirect(to: str, *headers: tuple[str, str]) -> Answer:
    """To be got, whatever was sent here."""
    return Answer(b"", HTTPStatus.SEE_OTHER, TEXT, (("Location", to), *headers))
