"""A client of Confluent's Schema Registry: schemas by number, with what they refer to.

A record that was written with a registered schema begins with a zero byte and the schema's number, four
bytes, big-endian. All waiting has a deadline. Nothing is cached here: see `evaluators/registered`.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from streamgauge.gateway.connector.evaluators.contract import Undecodable

DEADLINE_S = 10.0
_ATTEMPT_S = 3.0
_PAUSE_S = 0.25
_MOST_BYTES = 16 * 1024 * 1024
_ID_BYTES = 5
_MOST_REFERENCES = 1000


class RegistryFailed(Exception):
    """A schema cannot be had. One line; `final` when asking again will not help."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


@dataclass(frozen=True)
class RegisteredSchema:
    """What the registry answered: `kind` is AVRO, JSON or PROTOBUF; references in the order to read them."""

    kind: str
    text: str
    references: tuple[tuple[str, str], ...]
    """(name, text) of every schema this one needs, those that are needed first in front."""


def schema_id_of(data: bytes) -> int:
    if len(data) < _ID_BYTES or data[0] != 0:
        raise Undecodable("does not begin with a zero byte and the number of a registered schema")
    return int.from_bytes(data[1:_ID_BYTES], "big")


def without_schema_id(data: bytes) -> bytes:
    schema_id_of(data)
    return data[_ID_BYTES:]


class SchemaRegistry:
    def __init__(
        self,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        tls: ssl.SSLContext | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._url, self._deadline_s = url.rstrip("/"), deadline_s
        self._headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if user is not None:
            credentials = base64.b64encode(f"{user}:{password or ''}".encode()).decode()
            self._headers["Authorization"] = f"Basic {credentials}"
        # No proxy from the environment: a registry is beside its brokers, and Kafka knows no proxies either.
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _NoRedirect()]
        if tls is not None:
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        self._open = urllib.request.build_opener(*handlers).open

    def fetch(self, schema_id: int, *, serialized: bool = False) -> RegisteredSchema:
        """The schema with all it refers to. `serialized`: as a file descriptor (PROTOBUF only).

        Tries again until the deadline while the registry does not answer; raises RegistryFailed.
        """
        until = time.monotonic() + self._deadline_s
        form = "?format=serialized" if serialized else ""
        answer = self._ask(f"/schemas/ids/{schema_id}{form}", until)
        found: dict[str, str] = {}
        self._collect(answer, form, until, found)
        return RegisteredSchema(str(answer.get("schemaType", "AVRO")), answer["schema"], tuple(found.items()))

    def _collect(self, answer: dict[str, Any], form: str, until: float, found: dict[str, str]) -> None:
        for reference in answer.get("references") or ():
            name = str(reference["name"])
            if name in found:
                continue
            if len(found) >= _MOST_REFERENCES:
                raise RegistryFailed(f"{self._url}: a schema refers to more than {_MOST_REFERENCES} others")
            subject, version = quote(str(reference["subject"]), safe=""), int(reference["version"])
            below = self._ask(f"/subjects/{subject}/versions/{version}{form}", until)
            self._collect(below, form, until, found)
            found[name] = below["schema"]

    def _ask(self, path: str, until: float) -> dict[str, Any]:
        while True:
            try:
                return self._get(path, until)
            except RegistryFailed as failed:
                if failed.final or time.monotonic() + _PAUSE_S > until:
                    raise
                time.sleep(_PAUSE_S)

    def _get(self, path: str, until: float) -> dict[str, Any]:
        where = f"schema registry at {self._url}"
        wait_s = min(_ATTEMPT_S, until - time.monotonic())
        if wait_s <= 0:
            raise RegistryFailed(f"{where}: no answer within {self._deadline_s:g} s")
        request = urllib.request.Request(self._url + path, headers=self._headers)
        try:
            with self._open(request, timeout=wait_s) as response:
                body = _read_all(response, until)
        except urllib.error.HTTPError as error:
            with error:
                final = error.code < 500 and error.code != http.client.TOO_MANY_REQUESTS
                raise RegistryFailed(f"{where}: {path}: {error.code} {error.reason}", final=final) from None
        except (OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", None) or error
            raise RegistryFailed(f"{where}: {why}") from None
        return _as_schema(body, f"{where}: {path}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Credentials go to the address that was given and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _read_all(response: http.client.HTTPResponse, until: float) -> bytes:
    """Chunk by chunk: a socket's timeout alone does not end an answer that drips."""
    body = bytearray()
    while chunk := response.read1(65_536):
        body += chunk
        if len(body) > _MOST_BYTES:
            raise RegistryFailed(f"the registry's answer is larger than {_MOST_BYTES} bytes", final=True)
        if time.monotonic() > until:
            raise RegistryFailed("the registry's answer took too long")
    return bytes(body)


def _as_schema(body: bytes, where: str) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
        raise RegistryFailed(f"{where}: the answer is no schema", final=True)
    return answer
