"""The push server of one process: its port, its connections, its gateway."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from streamgauge.core.errors import BadInput
from streamgauge.gateway.server.budget import Reason
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.door import Door
from streamgauge.gateway.server.gateway import Gateway
from streamgauge.gateway.server.housekeeping import Housekeeping
from streamgauge.gateway.server.http_connections import HttpConnection
from streamgauge.gateway.server.http_exchanges import HttpExchanges
from streamgauge.gateway.server.monitoring import MonitoringConnection
from streamgauge.gateway.server.neighbours import Neighbours
from streamgauge.gateway.server.origins import Origins
from streamgauge.gateway.server.port_lock import who_listens
from streamgauge.gateway.server.reception import Reception
from streamgauge.gateway.server.settings import ServerSettings
from streamgauge.gateway.server.websocket_connections import WebSocketConnection

_SEND_BUFFER_BYTES = 262_144
_GRACE_S = 0.2


@dataclass(frozen=True)
class Page:
    content_type: str
    body: bytes
    status: HTTPStatus = HTTPStatus.OK


class PushServer:
    """`pages`: what else is to be had from the port, by path."""

    def __init__(
        self,
        settings: ServerSettings,
        adapter_sets: Iterable[AdapterSet],
        *,
        pages: Mapping[str, Page] | None = None,
        process: int = 0,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.settings, self.neighbours = settings, neighbours
        self.gateway = Gateway(settings, adapter_sets, process)
        self.reception = Reception(self.gateway)
        self.origins = Origins(settings.allowed_origins, settings.host)
        self.connections: dict[HttpExchanges, None] = {}
        self.websockets: dict[WebSocketConnection, None] = {}
        self._pages = dict(pages or {})
        self._housekeeping = Housekeeping(self)
        self._door: Door | None = None
        self._monitoring: asyncio.Server | None = None
        self._adopting: set[asyncio.Task[object]] = set()

    async def start(self, listener: socket.socket, monitoring: socket.socket) -> None:
        """Serve what comes to a socket, and tell how it is going to who comes to the other."""
        _raise_open_files_limit()
        self.gateway.start()
        loop = asyncio.get_running_loop()
        self._door = Door(listener, self.gateway.budget, lambda: HttpConnection(self), _tls(self.settings))
        self._door.open()
        self._monitoring = await loop.create_server(lambda: MonitoringConnection(self), sock=monitoring)
        self._housekeeping.start()
        if self.neighbours is not None:
            self.neighbours.start(self.gateway.process, self._adopt)

    async def stop(self) -> None:
        """Take no more connections, tell clients to come again (to whoever is there then), and end."""
        self._housekeeping.stop()
        if self.neighbours is not None:
            self.neighbours.stop()
        if self._door is not None and self._monitoring is not None:
            self._door.close()
            self._monitoring.close()
        self.gateway.stop()
        self.reception.admission.close()
        await asyncio.sleep(_GRACE_S)
        for connection in list(self.connections):
            connection.drop(Reason.STOPPING)
        for websocket in list(self.websockets):
            websocket.drop(Reason.STOPPING)
        await asyncio.sleep(0)

    def _adopt(self, connection: socket.socket, received: bytes, is_upgraded: bool) -> None:
        """Take in a connection from another process."""
        loop = asyncio.get_running_loop()
        made: asyncio.Task[object] = loop.create_task(
            loop.connect_accepted_socket(
                lambda: HttpConnection(self, received, is_upgraded=is_upgraded), connection
            )
        )
        self._adopting.add(made)
        made.add_done_callback(self._adopting.discard)

    def page(self, path: str) -> Page | None:
        return self._pages.get(path)

    def monitoring_page(self, path: str) -> Page | None:
        if path == "/metrics":
            if self.neighbours is not None:
                self.gateway.counters.process_restarts = self.neighbours.restarts
            return Page("text/plain; version=0.0.4; charset=utf-8", self.gateway.metrics())
        if path == "/healthz":
            return Page("text/plain; charset=utf-8", b"ok\n")
        return None


def monitoring_socket(settings: ServerSettings, *, shared: bool = False) -> socket.socket:
    return _bound(settings.monitoring_host, settings.monitoring_port, settings, shared=shared)


def listening_socket(settings: ServerSettings, *, shared: bool = False) -> socket.socket:
    """For clients."""
    return _bound(settings.host, settings.port, settings, shared=shared)


def _bound(host: str, port: int, settings: ServerSettings, *, shared: bool) -> socket.socket:
    """Bound, not yet listening; `shared`: several processes are going to listen on the same port.

    What is set on it, connections inherit: a bounded send buffer, so that what a slow reader has not taken
    waits where it can be conflated; and an end to connections whose peer has vanished.
    """
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(info[0], info[1], info[2])
    except OSError as error:
        raise BadInput(f"host {host}: {error.strerror or error}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            patience_ms = int(settings.limits.unread_deadline * 1000)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience_ms)
        listener.setblocking(False)
        listener.bind(info[4])
    except OSError as error:
        listener.close()
        who = who_listens(port) if error.errno == errno.EADDRINUSE else ""
        raise BadInput(f"{host}:{port}: cannot be listened on: {error.strerror}{who}") from None
    return listener


def _tls(settings: ServerSettings) -> ssl.SSLContext | None:
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"{settings.tls_certificate}, {settings.tls_key}: not usable for TLS: {error}"
        ) from None
    return context


def _raise_open_files_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
