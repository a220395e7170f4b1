from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.serve import serving
from streamgauge.serve.serving import ServeSettings, address_of, serve, token_for


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_this_machine_alone_no_token_is_needed(host: str) -> None:
    assert token_for(host, None) is None
    assert token_for(host, "but-who-gives-one-has-it") == "but-who-gives-one-has-it"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "bench.example"])
def test_where_others_can_come_one_is_made_each_time(host: str) -> None:
    made, again = token_for(host, None), token_for(host, None)
    assert made is not None
    assert len(made) >= 32
    assert made != again


def test_a_short_token_is_refused() -> None:
    with pytest.raises(BadInput, match="too short"):
        token_for("0.0.0.0", "secret")


def test_the_address_is_one_to_click_on() -> None:
    assert address_of("127.0.0.1", 80, None) == "http://127.0.0.1:80/"
    assert address_of("::1", 80, "abc") == "http://[::1]:80/?token=abc"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    told: list[str] = []

    def ready(address: str) -> None:
        told.append(address)
        os.kill(os.getpid(), number)

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        serve(ServeSettings(str(tmp_path), tmp_path / "started", port=0), ready)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    assert told[0].startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    async def twice() -> None:
        other = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = other.sockets[0].getsockname()[1]
        try:
            with pytest.raises(BadInput, match=f"--port {port}: cannot listen there"):
                await serving._serve(ServeSettings(str(tmp_path), tmp_path, port=port), print)
        finally:
            other.close()

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        asyncio.run(twice())
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
