"""A push server in a thread of the test, with sources that the test publishes through."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import uvloop

from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.server import Page, PushServer, listening_socket, monitoring_socket
from streamgauge.gateway.server.settings import ServerSettings

from .memory_source import MemorySource

DEADLINE_S = 30.0
ADAPTER_SET = "TEST"
T = TypeVar("T")


@dataclass(frozen=True)
class Port:
    """Where something else than clients' requests is answered."""

    port: int


class Running:
    """What a test may do with a running server; everything happens on the server's loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        server: PushServer,
        port: int,
        monitoring: Port,
        source: MemorySource,
    ) -> None:
        self._loop, self.server, self.port, self.source = loop, server, port, source
        self.monitoring = monitoring

    @property
    def address(self) -> str:
        scheme = "https" if self.server.settings.tls_certificate else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def call(self, act: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The result of a call made on the loop."""

        async def on_loop() -> T:
            return act(*arguments, **named)

        return asyncio.run_coroutine_threadsafe(on_loop(), self._loop).result(DEADLINE_S)

    def publish(self, item: str, *events: Mapping[str, str | None]) -> None:
        """Events in one go, as from one batch."""

        def at_once() -> None:
            for fields in events:
                self.source.listener.publish(item, fields)

        self.call(at_once)

    def publish_one_by_one(self, item: str, *events: Mapping[str, str | None]) -> None:
        for fields in events:
            self.publish(item, fields)

    def cut(self) -> None:
        """Abort all connections that carry a session, as a network does that breaks."""

        def abort() -> None:
            for session in list(self.server.gateway.sessions.values()):
                if session.link is not None:
                    session.link.abort()

        self.call(abort)

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Until something holds on the server's side."""
        deadline = threading.Event()
        for _ in range(int(DEADLINE_S / 0.01)):
            if self.call(holds):
                return
            deadline.wait(0.01)
        raise AssertionError("it did not come about in time")

    def metric(self, name: str) -> float:
        text = self.call(self.server.gateway.metrics).decode()
        beginning = f"streamgauge_gateway_{name}" + ("" if "{" in name else "{")
        [value] = [line.split()[1] for line in text.splitlines() if line.startswith(beginning)]
        return float(value)


@contextmanager
def running(
    settings: dict[str, Any] | None = None,
    source: MemorySource | None = None,
    *,
    pages: dict[str, Page] | None = None,
    **adapter_set: Any,
) -> Iterator[Running]:
    """`settings`: of the server; `adapter_set`: what else its adapter set has."""
    chosen = ServerSettings.model_validate({"port": 0, **(settings or {})})
    source = source or MemorySource()
    listener, monitoring = listening_socket(chosen), monitoring_socket(chosen)
    loop = uvloop.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> PushServer:
        adapters = AdapterSet(
            ADAPTER_SET, {"DEFAULT": source, **adapter_set.pop("sources", {})}, **adapter_set
        )
        server = PushServer(chosen, [adapters], pages=pages)
        await server.start(listener, monitoring)
        return server

    def run(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(DEADLINE_S)

    try:
        server = run(start())
    except BaseException:
        listener.close()
        monitoring.close()
        raise
    try:
        yield Running(loop, server, listener.getsockname()[1], Port(monitoring.getsockname()[1]), source)
    finally:
        run(server.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE_S)
        loop.close()
