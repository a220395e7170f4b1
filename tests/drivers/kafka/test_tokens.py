from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.kafka import tokens
from streamgauge.drivers.kafka.security import TokenSource
from streamgauge.drivers.kafka.tokens import Tokens
from streamgauge.systems.token_endpoint import TokenServer
from streamgauge.systems.token_terms import KEYS_PATH, TOKEN_PATH
from tests.systems.token_server import serving_tokens


@pytest.fixture
def server() -> Iterator[TokenServer]:
    with serving_tokens({"me@here": "a:b/c"}) as server:
        yield server


def test_a_token_is_fetched_once_and_again_when_it_is_old(
    server: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Tokens(TokenSource(server.url + TOKEN_PATH, "me@here", "a:b/c"))
    first = source.get()
    assert first.count(".") == 2
    assert source.get() == first
    monkeypatch.setattr(tokens, "_USED_UP", 0.0)
    hurried = Tokens(TokenSource(server.url + TOKEN_PATH, "me@here", "a:b/c"))
    assert hurried.get() != hurried.get()


def test_a_wrong_secret_is_refused_and_not_told(server: TokenServer) -> None:
    wrong = Tokens(TokenSource(server.url + TOKEN_PATH, "me@here", "guess"))
    with pytest.raises(BadInput, match=r"refuses client me@here: 401 .*check its id and secret") as refused:
        wrong.get()
    assert "guess" not in str(refused.value)


def test_what_is_no_token_endpoint_is_said() -> None:
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1/token: cannot be reached"):
        Tokens(TokenSource("http://127.0.0.1:1/token", "me", "p")).get()
    with pytest.raises(BadInput, match=r"file:///etc/passwd: must be an address"):
        Tokens(TokenSource("file:///etc/passwd", "me", "p")).get()


def test_an_address_that_answers_something_else_is_said(server: TokenServer) -> None:
    with pytest.raises(BadInput, match="404"):
        Tokens(TokenSource(server.url + KEYS_PATH, "me@here", "a:b/c")).get()
