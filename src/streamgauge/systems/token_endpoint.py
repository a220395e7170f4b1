"""Who gives out tokens for OAUTHBEARER: a token endpoint of OAuth 2.0 here, and the keys to check them with.

`python -m streamgauge.systems.token_endpoint FOLDER` serves until it is ended. In FOLDER it finds who may
have a token, and writes where it is to be found; no secret is on its command line. It does what the broker
and the clients of a rehearsal need (client credentials, RS256, a JWKS) and nothing more.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import os
import sys
import time
import uuid
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from streamgauge.systems.ports import HOST
from streamgauge.systems.token_terms import (
    AUDIENCE,
    CLIENTS_FILE,
    ISSUER,
    KEYS_PATH,
    PLACE_FILE,
    TOKEN_PATH,
)

VALID_S = 300
_MOST_BYTES = 10_000
_ANSWER_S = 10.0


class TokenMaker:
    """Signs with a key of its own, that nobody has before it runs nor afterwards."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._id = uuid.uuid4().hex

    def token(self, subject: str) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": subject,
            "iat": now,
            "exp": now + VALID_S,
            "jti": uuid.uuid4().hex,
            "scope": "kafka",
        }
        head = {"alg": "RS256", "typ": "JWT", "kid": self._id}
        signed = f"{_encoded(json.dumps(head).encode())}.{_encoded(json.dumps(claims).encode())}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_encoded(signature)}"

    def keys(self) -> dict[str, Any]:
        """The public half, as a JWKS has it."""
        numbers = self._key.public_key().public_numbers()
        n, e = (_encoded(i.to_bytes((i.bit_length() + 7) // 8, "big")) for i in (numbers.n, numbers.e))
        return {"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self._id, "n": n, "e": e}]}


class TokenServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, clients: dict[str, str]) -> None:
        super().__init__((HOST, 0), _Handler)
        self.clients, self.maker = clients, TokenMaker()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: TokenServer
    timeout = _ANSWER_S

    def do_GET(self) -> None:
        if self.path.partition("?")[0] == KEYS_PATH:
            self._answer(HTTPStatus.OK, self.server.maker.keys())
        else:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "not_found"})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != TOKEN_PATH or not length.isdecimal() or int(length) > _MOST_BYTES:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "not_found"})
            return
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"))
        if form.get("grant_type") != ["client_credentials"]:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": "unsupported_grant_type"})
            return
        who = _client_of(self.headers.get("Authorization", ""))
        known = None if who is None else self.server.clients.get(who[0])
        if who is None or known is None or not hmac.compare_digest(known.encode(), who[1].encode()):
            words = "this client is not known here, or its secret is another"
            self._answer(HTTPStatus.UNAUTHORIZED, {"error": "invalid_client", "error_description": words})
            return
        token = self.server.maker.token(who[0])
        self._answer(HTTPStatus.OK, {"access_token": token, "token_type": "Bearer", "expires_in": VALID_S})

    def _answer(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """What was asked for is nobody's business, and may hold a secret."""


def _client_of(header: str) -> tuple[str, str] | None:
    """Name and secret out of an `Authorization: Basic` header."""
    kind, _, coded = header.partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        name, colon, secret = base64.b64decode(coded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (unquote(name), unquote(secret)) if colon else None


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def serve(folder: Path) -> None:
    with TokenServer(json.loads((folder / CLIENTS_FILE).read_text())) as server:
        # The name appears when the content is whole.
        unfinished = folder / f".{PLACE_FILE}"
        unfinished.write_text(server.url)
        os.replace(unfinished, folder / PLACE_FILE)
        server.serve_forever()


if __name__ == "__main__":
    os.umask(0o077)
    serve(Path(sys.argv[1]))
