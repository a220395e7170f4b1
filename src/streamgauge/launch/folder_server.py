"""Serves the launcher's run folder to agents on hosts that do not share its disk (core/served_files).

Spark has no way from a running task to the driver that is quicker than a second, and none that takes files.
This is HTTP with signed requests, and knows of files only; who runs where, and who is lost, is Spark's part.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from streamgauge.core.clock import now_ns
from streamgauge.core.served_files import CLOCK_TARGET, SIGNATURE_HEADER, signature

_OK, _FORBIDDEN, _MISSING, _BROKEN, _FULL = 200, 403, 404, 500, 507
_END_DEADLINE_S = 5.0


class FolderServer:
    """One folder, one key; `location` is its address for agents."""

    def __init__(self, folder: Path, host: str, name: str) -> None:
        """`name`: the folder's for agents, the first part of every path."""
        self.key = secrets.token_hex(32)
        handler = type("_Handler", (_Handler,), {"folder": folder, "name": name, "key": self.key})
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
        server_class = type("_Server", (_Server,), {"address_family": family})
        self._server = server_class((host, 0), handler)
        port = self._server.server_address[1]
        netloc = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.location = f"http://{netloc}/{name}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="folder-server", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_END_DEADLINE_S)


@contextmanager
def served(folder: Path, host: str, name: str) -> Iterator[FolderServer]:
    """Served until the block ends."""
    server = FolderServer(folder, host, name)
    try:
        yield server
    finally:
        server.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # An agent that asks while many others do must not be turned away.
    request_queue_size = 1024


class _Handler(BaseHTTPRequestHandler):
    folder: Path
    name: str
    key: str
    protocol_version = "HTTP/1.1"
    # An answer in one packet, at once: clocks are compared over this.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == CLOCK_TARGET:
            # Read last, just before the answer goes out.
            self._serve_signed(lambda _: str(now_ns()).encode())
        else:
            self._serve(lambda path, _: path.read_bytes() if path.is_file() else None)

    def do_PUT(self) -> None:
        self._serve(_put)

    def do_KIND(self) -> None:
        self._serve(lambda path, _: _kind(path))

    def do_LIST(self) -> None:
        self._serve(lambda path, _: _listing(path))

    def do_DELETE(self) -> None:
        self._serve(lambda path, _: _delete(path))

    def do_MOVE(self) -> None:
        self._serve(self._move)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def _serve(self, answer: Callable[[Path, bytes], bytes | None]) -> None:
        path = self._at(unquote(urlsplit(self.path).path))
        if path is None:
            self._serve_signed(None)
        else:
            self._serve_signed(lambda body: answer(path, body))

    def _serve_signed(self, answer: Callable[[bytes], bytes | None] | None) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        told = self.headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(told, signature(self.key, self.command, self.path, body)):
            return self._answer(_FORBIDDEN, b"wrong key")
        if answer is None:
            return self._answer(_FORBIDDEN, b"outside of the folder")
        try:
            content = answer(body)
        except OSError as error:
            full = "No space left" in str(error)
            return self._answer(_FULL if full else _BROKEN, str(error).encode())
        return self._answer(_MISSING if content is None else _OK, content or b"")

    def _move(self, path: Path, body: bytes) -> bytes | None:
        destination = self._at(body.decode())
        if destination is None or not path.is_file():
            return None
        os.replace(path, destination)
        return b""

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


def _put(path: Path, body: bytes) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return b""


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
