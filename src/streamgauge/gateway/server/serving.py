"""Running the push server until somebody ends it: in this process, or in several on one port."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import uvloop

from streamgauge.gateway.server.children import Children
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.neighbours import Neighbours
from streamgauge.gateway.server.port_lock import lock_port
from streamgauge.gateway.server.server import Page, PushServer, listening_socket, monitoring_socket
from streamgauge.gateway.server.settings import ServerSettings

MakeAdapterSet = Callable[[int], AdapterSet]
"""Given the number of the process, from 0; called once in each process, before its loop runs."""


_GARBAGE_THRESHOLDS = (2000, 10, 100)


class Addresses(NamedTuple):
    clients: str
    monitoring: str


def serve(
    settings: ServerSettings,
    make_adapter_set: MakeAdapterSet,
    *,
    processes: int = 1,
    pages: Mapping[str, Page] | None = None,
    ready: Callable[[Addresses], None] = lambda addresses: None,
) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is told the addresses as soon as clients can come."""
    with _own_ports(settings, shared=processes > 1) as sockets:
        ports = [each.getsockname()[1] for each in sockets]
        bound = settings.model_copy(update={"port": ports[0], "monitoring_port": ports[1]})
        addresses = _addresses(bound)
        if processes == 1:
            alone = _Process(bound, make_adapter_set, pages, 0, None)
            alone.serve(sockets, lambda: ready(addresses))
            return
        # The sockets stay bound, and never listen: they keep the ports while processes come and go.
        neighbours = Neighbours(processes)

        def run(number: int, ready: Callable[[], object]) -> None:
            for each in sockets:
                each.close()
            process = _Process(bound, make_adapter_set, pages, number, neighbours)
            process.serve(
                (listening_socket(bound, shared=True), monitoring_socket(bound, shared=True)), ready
            )

        children = Children(processes, run, restarted=neighbours.count_restart)
        try:
            children.start()
            children.watch(lambda: ready(addresses))
        finally:
            children.end()
            neighbours.close()


Sockets = tuple[socket.socket, socket.socket]
"""For clients, and for monitoring."""


@contextmanager
def _own_ports(settings: ServerSettings, *, shared: bool) -> Iterator[Sockets]:
    """Sockets bound to the ports, which no other gateway has meanwhile."""
    with ExitStack() as kept:
        found = []
        for host, port, bind in (
            (settings.host, settings.port, listening_socket),
            (settings.monitoring_host, settings.monitoring_port, monitoring_socket),
        ):
            if port:
                kept.enter_context(lock_port(host, port))
                if shared:
                    # One that shares with nobody finds whoever is there under another name of the address.
                    bind(settings).close()
            found.append(kept.enter_context(bind(settings, shared=shared)))
            if not port:
                kept.enter_context(lock_port(host, found[-1].getsockname()[1]))
        yield found[0], found[1]


@dataclass(frozen=True)
class _Process:
    settings: ServerSettings
    make_adapter_set: MakeAdapterSet
    pages: Mapping[str, Page] | None
    number: int
    neighbours: Neighbours | None

    def serve(self, sockets: Sockets, ready: Callable[[], object]) -> None:
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
            await server.start(*sockets)
            _let_garbage_wait()
            ready()
            await stopped.wait()
            await server.stop()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())


def _let_garbage_wait() -> None:
    """Nobody is sent anything while Python looks for garbage: among all modules and all sessions that took
    30 ms and more, every few seconds. What is there at the start stays, and is not looked at again. What
    connections leave is no garbage of this kind, as they take their circles apart when they end; so what
    is young is looked at less often, and everything only when very much has come in between."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE_THRESHOLDS)


def _addresses(settings: ServerSettings) -> Addresses:
    scheme = "http" if settings.tls_certificate is None else "https"
    return Addresses(
        f"{scheme}://{_in_url(settings.host)}:{settings.port}",
        f"http://{_in_url(settings.monitoring_host)}:{settings.monitoring_port}",
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
