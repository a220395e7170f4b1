"""Serves the launcher's run folder to agents on hosts that do not share its disk (core/served_files).

Spark has no way from a running task to the driver that is quicker than a second, and none that takes files.
This is HTTP over mutual TLS (core/run_identity), and knows of files only; who runs where, and who is lost, is
Spark's part. A stranger costs a bounded number of threads for a bounded time; no request of theirs is read.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from streamgauge.core.clock import now_ns
from streamgauge.core.run_identity import launcher_context, make_identity
from streamgauge.core.served_files import CLOCK_TARGET
from streamgauge.launch.serving import Serving

_OK, _BAD, _FORBIDDEN, _MISSING, _TOO_LARGE, _BROKEN, _FULL = 200, 400, 403, 404, 413, 500, 507
_MOST_STRANGERS = 64
"""Connections that have not shown the run's certificate yet, beside those of agents that come all at once;
one more ends the oldest of them."""
_CONNECTIONS_AN_AGENT = 4
"""Of its task, which also reads the clock, and of its process, which also keeps a journal."""
_STRANGER_DEADLINE_S = 10.0
_IDLE_DEADLINE_S = 300.0
"""Of an agent's connection; it comes again when it has something to say."""
_LARGEST_FILE_BYTES = 64 << 30
_LARGEST_WORD_BYTES = 64 << 10
"""Of whatever is not a file."""
_CHUNK_BYTES = 1 << 20


class FolderServer:
    """One folder, one identity; `location` is its address for agents."""

    def __init__(self, folder: Path, host: str, name: str, agents: int = 1) -> None:
        """`name`: the folder's for agents, the first part of every path; `agents`: how many will come."""
        self.identity = make_identity()
        handler = type("_Handler", (_Handler,), {"folder": folder, "name": name})
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
        server_class = type("_Server", (_Server,), {"address_family": family})
        self._server = server_class((host, 0), handler)
        self._server.context = launcher_context(self.identity)
        self._server.most_strangers = _MOST_STRANGERS + _CONNECTIONS_AN_AGENT * agents
        port = self._server.server_address[1]
        netloc = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.location = f"https://{netloc}/{name}"
        self._serving = Serving(self._server, "folder-server")

    def close(self) -> None:
        self._serving.close()


@contextmanager
def served(folder: Path, host: str, name: str, agents: int = 1) -> Iterator[FolderServer]:
    """Served until the block ends."""
    server = FolderServer(folder, host, name, agents)
    try:
        yield server
    finally:
        server.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # An agent that asks while many others do must not be turned away.
    request_queue_size = 1024
    context: ssl.SSLContext
    most_strangers: int

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._strangers: dict[ssl.SSLSocket, float] = {}
        """Since when; the oldest first."""
        self._lock = threading.Lock()

    def get_request(self) -> tuple[ssl.SSLSocket, Any]:
        """Nothing is read here: one thread accepts for all."""
        accepted, address = super().get_request()
        accepted.settimeout(_STRANGER_DEADLINE_S)
        return self.context.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False), address

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._strangers[request] = time.monotonic()
            oldest = next(iter(self._strangers)) if len(self._strangers) > self.most_strangers else None
        if oldest is not None:
            self._turn_away(oldest)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Now and then, from the accepting thread."""
        too_old_s = time.monotonic() - _STRANGER_DEADLINE_S
        with self._lock:
            late = [stranger for stranger, since_s in self._strangers.items() if since_s < too_old_s]
        for stranger in late:
            self._turn_away(stranger)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In a thread of the connection's own."""
        with suppress(OSError):  # a stranger, or an agent that went away
            try:
                request.do_handshake()
            finally:
                self._forget(request)
            request.settimeout(_IDLE_DEADLINE_S)
            super().finish_request(request, client_address)

    def _turn_away(self, stranger: ssl.SSLSocket) -> None:
        """Its thread notices."""
        self._forget(stranger)
        with suppress(OSError):
            socket.socket.shutdown(stranger, socket.SHUT_RDWR)

    def _forget(self, stranger: ssl.SSLSocket) -> None:
        with self._lock:
            self._strangers.pop(stranger, None)


class _Handler(BaseHTTPRequestHandler):
    folder: Path
    name: str
    protocol_version = "HTTP/1.1"
    # An answer in one packet, at once: clocks are compared over this.
    wbufsize = -1
    disable_nagle_algorithm = True
    _left_bytes = 0
    """Of the request's content; below 0: it was not said."""

    def do_GET(self) -> None:
        if self.path == CLOCK_TARGET:
            # Read last, just before the answer goes out.
            self._answer_with(lambda: str(now_ns()).encode())
        else:
            self._serve(lambda path: path.read_bytes() if path.is_file() else None)

    def do_PUT(self) -> None:
        self._serve(self._put, _LARGEST_FILE_BYTES)

    def do_KIND(self) -> None:
        self._serve(_kind)

    def do_LIST(self) -> None:
        self._serve(_listing)

    def do_DELETE(self) -> None:
        self._serve(_delete)

    def do_MOVE(self) -> None:
        self._serve(self._move)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def _serve(self, answer: Callable[[Path], bytes | None], most_bytes: int = _LARGEST_WORD_BYTES) -> None:
        told = self.headers.get("Content-Length") or "0"
        is_told = told.isdecimal() and "Transfer-Encoding" not in self.headers
        self._left_bytes = int(told) if is_told else -1
        path = self._at(unquote(urlsplit(self.path).path))
        # What is refused before its content was read ends the connection: it would be taken for a request.
        if self._left_bytes < 0:
            self._refuse(_BAD, b"say the length of the content")
        elif self._left_bytes > most_bytes:
            self._refuse(_TOO_LARGE, b"more content than this takes")
        elif path is None:
            self._refuse(_FORBIDDEN, b"outside of the folder")
        else:
            self._answer_with(lambda: answer(path))

    def _refuse(self, status: int, why: bytes) -> None:
        self.close_connection = self.close_connection or self._left_bytes != 0
        self._answer(status, why)

    def _answer_with(self, answer: Callable[[], bytes | None]) -> None:
        try:
            content = answer()
        except OSError as error:
            full = "No space left" in str(error)
            return self._refuse(_FULL if full else _BROKEN, str(error).encode())
        return self._answer(_MISSING if content is None else _OK, content or b"")

    def _content(self) -> Iterator[bytes]:
        while self._left_bytes:
            piece = self.rfile.read(min(self._left_bytes, _CHUNK_BYTES))
            if not piece:
                raise ConnectionError("the agent went away within a file")
            self._left_bytes -= len(piece)
            yield piece

    def _put(self, path: Path) -> bytes:
        """A file is there as a whole or not at all, whatever happens to the agent meanwhile."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{threading.get_ident()}.part")
        try:
            with partial.open("wb") as file:
                for piece in self._content():
                    file.write(piece)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
        return b""

    def _move(self, path: Path) -> bytes | None:
        destination = self._at(b"".join(self._content()).decode())
        if destination is None:
            return None
        if path.is_file():
            os.replace(path, destination)
            return b""
        # Asked again by who never got the answer: what is moved has a name that nothing else ever has.
        return b"" if destination.is_file() else None

    def _at(self, path: str) -> Path | None:
        name, *parts = path.strip("/").split("/")
        if name != self.name or ".." in parts:
            return None
        return self.folder.joinpath(*parts)

    def _answer(self, status: int, content: bytes) -> None:
        said = content.decode(errors="replace").splitlines()[0] if status >= _BROKEN and content else None
        self.send_response(status, said)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _kind(path: Path) -> bytes | None:
    if path.is_dir():
        return b"folder"
    return b"file" if path.exists() else None


def _listing(path: Path) -> bytes | None:
    if not path.is_dir():
        return None
    found = [(str(p.relative_to(path)), "folder" if p.is_dir() else "file") for p in sorted(path.rglob("*"))]
    return json.dumps(found).encode()


def _delete(path: Path) -> bytes:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return b""
