"""Running the push server until somebody ends it: in this process, or in several on one port."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import uvloop

from streamgauge.gateway.server.children import Children
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.neighbours import Neighbours
from streamgauge.gateway.server.port_lock import lock_port
from streamgauge.gateway.server.server import Page, PushServer, listening_socket
from streamgauge.gateway.server.settings import ServerSettings

MakeAdapterSet = Callable[[int], AdapterSet]
"""Given the number of the process, from 0; called once in each process, before its loop runs."""


def serve(
    settings: ServerSettings,
    make_adapter_set: MakeAdapterSet,
    *,
    processes: int = 1,
    pages: Mapping[str, Page] | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is told the address as soon as clients can come."""
    with _own_port(settings, shared=processes > 1) as listener:
        address = _address(settings, listener)
        if processes == 1:
            alone = _Process(settings, make_adapter_set, pages, 0, None)
            alone.serve(listener, lambda: ready(address))
            return
        # The socket stays bound, and never listens: it keeps the port while processes come and go.
        bound = settings.model_copy(update={"port": listener.getsockname()[1]})
        neighbours = Neighbours(processes)

        def run(number: int, ready: Callable[[], object]) -> None:
            listener.close()
            process = _Process(bound, make_adapter_set, pages, number, neighbours)
            process.serve(listening_socket(bound, shared=True), ready)

        children = Children(processes, run, restarted=neighbours.count_restart)
        try:
            children.start()
            children.watch(lambda: ready(address))
        finally:
            children.end()
            neighbours.close()


@contextmanager
def _own_port(settings: ServerSettings, *, shared: bool) -> Iterator[socket.socket]:
    """A socket bound to the port, which no other gateway has meanwhile."""
    with ExitStack() as kept:
        if settings.port:
            kept.enter_context(lock_port(settings.host, settings.port))
            if shared:
                # One that shares with nobody finds whoever is there under another name of the address.
                listening_socket(settings).close()
        listener = kept.enter_context(listening_socket(settings, shared=shared))
        if not settings.port:
            kept.enter_context(lock_port(settings.host, listener.getsockname()[1]))
        yield listener


@dataclass(frozen=True)
class _Process:
    settings: ServerSettings
    make_adapter_set: MakeAdapterSet
    pages: Mapping[str, Page] | None
    number: int
    neighbours: Neighbours | None

    def serve(self, listener: socket.socket, ready: Callable[[], object]) -> None:
        adapter_set = self.make_adapter_set(self.number)

        async def run() -> None:
            stopped = asyncio.Event()
            loop = asyncio.get_running_loop()
            for sent in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(sent, stopped.set)
            server = PushServer(
                self.settings,
                [adapter_set],
                pages=self.pages,
                process=self.number,
                neighbours=self.neighbours,
            )
            await server.start(listener)
            ready()
            await stopped.wait()
            await server.stop()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())


def _address(settings: ServerSettings, listener: socket.socket) -> str:
    scheme = "http" if settings.tls_certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}"
