"""Asking the app as a browser does, with or without a socket between."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from streamgauge.serve.app import App
from streamgauge.serve.child_runs import ChildRuns
from streamgauge.serve.http_server import HttpServer, Limits
from streamgauge.serve.live_feed import LiveFeeds
from streamgauge.serve.requests import Answer, Flow, Request, path_of
from streamgauge.serve.run_list import RunList
from streamgauge.serve.safety import Safety
from streamgauge.serve.start_pages import Starter

HOST = "127.0.0.1:8723"
FORM = "application/x-www-form-urlencoded"


def made_app(
    runs: Path,
    *,
    token: str | None = None,
    read_only: bool = False,
    command: Sequence[str] = ("false",),
    every_s: float = 1.0,
) -> App:
    children = None if read_only else ChildRuns(str(runs), runs.parent / "started", command=command)
    starters = {"plain": Starter("plain: nothing", lambda: "kind: e2e\n")}
    return App(
        RunList(str(runs)), Safety("127.0.0.1", token), children, starters, LiveFeeds(100, every_s=every_s)
    )


class Browser:
    """Keeps cookies, and sends with every request what a browser sends."""

    def __init__(self, app: App, peer: str = "192.0.2.1") -> None:
        self.app, self.cookie, self._peer = app, "", peer

    async def ask(
        self, method: str, address: str, form: dict[str, Any] | None = None, **headers: str
    ) -> Answer:
        answer = await self.app(self.request(method, address, form, **headers))
        assert isinstance(answer, Answer)
        for name, value in answer.headers:
            if name == "Set-Cookie":
                self.cookie = value.partition(";")[0]
        return answer

    def request(
        self, method: str, address: str, form: dict[str, Any] | None = None, **headers: str
    ) -> Request:
        path, _, query = address.partition("?")
        sent = {"host": HOST, "cookie": self.cookie, "content-type": FORM}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        body = urlencode(form or {}, doseq=True).encode()
        return Request(method, path_of(path), parse_qs(query, keep_blank_values=True), sent, body, self._peer)

    async def get(self, address: str, **headers: str) -> Answer:
        return await self.ask("GET", address, None, **headers)

    async def post(self, address: str, form: dict[str, Any] | None = None, **headers: str) -> Answer:
        """With what our own form has in it."""
        await self.get("/")
        return await self.ask("POST", address, {"csrf": self.app.safety.csrf, **(form or {})}, **headers)


def text_of(answer: Answer | Flow) -> str:
    assert isinstance(answer, Answer)
    return answer.body.decode()


def header(answer: Answer | Flow, name: str) -> str:
    return "; ".join(value for key, value in answer.headers if key.lower() == name.lower())


def report_address(page: str) -> str:
    found = re.search(r'<iframe src="(/reports/[^"]+)"', page)
    assert found is not None
    return found[1]


class Served:
    """On a port of this machine, with the loop in a thread of its own."""

    def __init__(self, app: App, limits: Limits | None = None) -> None:
        self.app, self._limits = app, limits
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.port = 0

    @property
    def home(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        self._thread.start()
        self._server = HttpServer(self.app, self._limits)
        self.port = self.run(self._server.start("127.0.0.1", 0))

    def run(self, awaited: Any, deadline_s: float = 120) -> Any:
        return asyncio.run_coroutine_threadsafe(awaited, self.loop).result(deadline_s)

    def close(self) -> None:
        self.run(self._server.close())
        self.run(self.app.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(30)
        self.loop.close()

    def raw(self, sent: bytes, deadline_s: float = 60) -> bytes:
        """All that comes back until the other side has nothing more to say."""
        with socket.create_connection(("127.0.0.1", self.port), deadline_s) as connection:
            connection.sendall(sent)
            got = b""
            while piece := connection.recv(65536):
                got += piece
        return got


@contextmanager
def served(app: App, limits: Limits | None = None) -> Iterator[Served]:
    running = Served(app, limits)
    running.start()
    try:
        yield running
    finally:
        running.close()


def status_of(answer: Answer | Flow) -> HTTPStatus:
    assert isinstance(answer, Answer)
    return answer.status
