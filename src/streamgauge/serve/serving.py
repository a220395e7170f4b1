"""The life of the server: from the port that it listens on to the last run that it had started."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server.origins import is_loopback
from streamgauge.serve.app import App
from streamgauge.serve.child_runs import ChildRuns
from streamgauge.serve.http_server import HttpServer
from streamgauge.serve.run_list import RunList
from streamgauge.serve.safety import TOKEN_FIELD, Safety
from streamgauge.serve.start_pages import Starter

TOKEN_VARIABLE = "STREAMGAUGE_SERVE_TOKEN"
_LEAST_TOKEN = 16
_TOKEN_BYTES = 24


@dataclass(frozen=True)
class ServeSettings:
    runs: str
    """Where run folders are: a path or a URL."""
    folder: Path
    """For workloads and output of what is started from here; gone when we are."""
    host: str = "127.0.0.1"
    port: int = 8723
    token: str | None = None
    """None: none is needed, since only this machine can come here."""
    runs_at_once: int = 1
    read_only: bool = False
    starters: Mapping[str, Starter] = field(default_factory=dict)


def token_for(host: str, given: str | None) -> str | None:
    """As given; one of our own where others than this machine can come."""
    if given is not None and len(given) < _LEAST_TOKEN:
        raise BadInput(
            f"the token is too short: give at least {_LEAST_TOKEN} characters, or none to have one made"
        )
    if given is None and not is_loopback(host):
        return secrets.token_urlsafe(_TOKEN_BYTES)
    return given


def serve(settings: ServeSettings, ready: Callable[[str], None]) -> None:
    """Until SIGINT, SIGTERM or SIGHUP; then what was started here is ended, too. `ready` gets the address."""
    asyncio.run(_serve(settings, ready))


async def _serve(settings: ServeSettings, ready: Callable[[str], None]) -> None:
    children = None
    if not settings.read_only:
        children = ChildRuns(settings.runs, settings.folder, settings.runs_at_once)
    stopped = asyncio.Event()
    _hear_endings(stopped, children)
    app = App(RunList(settings.runs), Safety(settings.host, settings.token), children, settings.starters)
    server = HttpServer(app)
    try:
        port = await server.start(settings.host, settings.port)
    except OSError as error:
        raise BadInput(
            f"--host {settings.host} --port {settings.port}: cannot listen there: {error.strerror or error}; "
            "choose another --port, or 0 for any"
        ) from None
    app.safety.cookie = f"streamgauge-{port}"
    try:
        ready(address_of(settings.host, port, settings.token))
        await stopped.wait()
    finally:
        await server.close()
        await app.close()


def address_of(host: str, port: int, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?{TOKEN_FIELD}={token}" if token is not None else "")


def _hear_endings(stopped: asyncio.Event, children: ChildRuns | None) -> None:
    def end() -> None:
        if stopped.is_set() and children is not None:
            children.hurry()
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Whoever starts us with a signal ignored wants us to live through it.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end)
