from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

from streamgauge.systems.ports import HOST
from streamgauge.systems.token_endpoint import TokenMaker, TokenServer
from streamgauge.systems.token_terms import (
    AUDIENCE,
    CLIENTS_FILE,
    ISSUER,
    KEYS_PATH,
    MODULE,
    PLACE_FILE,
    TOKEN_PATH,
)
from tests.systems.token_server import serving_tokens
from tests.waiting import wait_for

FORM = "grant_type=client_credentials"


@pytest.fixture(scope="module")
def server() -> Iterator[TokenServer]:
    with serving_tokens({"me": "secret"}) as server:
        yield server


def asked(server: TokenServer, method: str, path: str, body: str = "", login: str = "") -> tuple[int, Any]:
    connection = HTTPConnection(HOST, server.server_port, timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if login:
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def check(token: str, keys: dict[str, Any]) -> dict[str, Any]:
    """As a broker does it: InvalidSignature unless one of the keys signed it."""
    head, claims, signature = token.split(".")
    assert json.loads(decoded(head))["alg"] == "RS256"
    (key,) = [key for key in keys["keys"] if key["kid"] == json.loads(decoded(head))["kid"]]
    n, e = (int.from_bytes(decoded(key[name]), "big") for name in ("n", "e"))
    public = RSAPublicNumbers(e, n).public_key()
    public.verify(decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    found: dict[str, Any] = json.loads(decoded(claims))
    return found


def test_who_has_the_secret_gets_a_token_that_the_keys_verify(server: TokenServer) -> None:
    status, told = asked(server, "POST", TOKEN_PATH, FORM, "me:secret")
    assert (status, told["token_type"]) == (200, "Bearer")
    _, keys = asked(server, "GET", KEYS_PATH)
    claims = check(told["access_token"], keys)
    assert (claims["sub"], claims["iss"], claims["aud"]) == ("me", ISSUER, AUDIENCE)
    assert claims["exp"] - claims["iat"] == told["expires_in"] > 0


def test_a_token_that_somebody_else_signed_or_changed_is_seen(server: TokenServer) -> None:
    keys = server.maker.keys()
    head, claims, signature = server.maker.token("me").split(".")
    changed = base64.urlsafe_b64encode(decoded(claims).replace(b'"me"', b'"admin"')).decode().rstrip("=")
    with pytest.raises(InvalidSignature):
        check(f"{head}.{changed}.{signature}", keys)
    with pytest.raises(ValueError, match="not enough values"):
        check(TokenMaker().token("me"), keys)


@pytest.mark.parametrize("login", ["", "me:guess", "me", "nobody:secret", ":"])
def test_nobody_else_gets_one(server: TokenServer, login: str) -> None:
    assert asked(server, "POST", TOKEN_PATH, FORM, login) == (
        401,
        {
            "error": "invalid_client",
            "error_description": "this client is not known here, or its secret is another",
        },
    )


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", TOKEN_PATH, "grant_type=password&username=me&password=secret", 400),
        ("POST", TOKEN_PATH, "x" * 10_001, 404),
        ("POST", "/other", FORM, 404),
        ("GET", TOKEN_PATH, "", 404),
    ],
)
def test_anything_else_is_refused(
    server: TokenServer, method: str, path: str, body: str, status: int
) -> None:
    assert asked(server, method, path, body, "me:secret")[0] == status


@pytest.mark.process
def test_as_a_process_it_tells_where_it_is_and_no_secret_on_its_command_line(tmp_path: Path) -> None:
    (tmp_path / CLIENTS_FILE).write_text(json.dumps({"me": "secret"}))
    command = [sys.executable, "-m", MODULE, str(tmp_path)]
    process = subprocess.Popen(command)
    try:
        wait_for((tmp_path / PLACE_FILE).exists)
        host, _, port = (tmp_path / PLACE_FILE).read_text().removeprefix("http://").partition(":")
        connection = HTTPConnection(host, int(port), timeout=30)
        connection.request("GET", KEYS_PATH)
        assert json.loads(connection.getresponse().read())["keys"]
        connection.close()
    finally:
        process.terminate()
        process.wait(60)
