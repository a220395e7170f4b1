"""A small Schema Registry: schemas by number and by subject, over real HTTP (or HTTPS)."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Registry:
    """What it answers; tests change it while it runs."""

    schemas: dict[int, dict[str, Any]] = field(default_factory=dict)
    subjects: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    credentials: str | None = None
    broken: int = 0
    """So many requests are answered with 503 first."""
    drip_s: float = 0.0
    redirect_to: str | None = None
    requests: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str) -> tuple[int, Any]:
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        if self.broken > 0:
            self.broken -= 1
            return 503, {"message": "starting"}
        found = None
        if parts[:2] == ["schemas", "ids"]:
            found = self.schemas.get(int(parts[2]))
        elif parts[0] == "subjects":
            found = self.subjects.get((parts[1], int(parts[3])))
        return (200, found) if found is not None else (404, {"error_code": 40403, "message": "not found"})


@contextmanager
def running(registry: Registry, tls: ssl.SSLContext | None = None) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.requests.append(self.path)
            expected = (
                registry.credentials and f"Basic {base64.b64encode(registry.credentials.encode()).decode()}"
            )
            if expected and self.headers.get("Authorization") != expected:
                status, content = 401, {"message": "who are you?"}
            else:
                status, content = registry.answer(self.path)
            if registry.redirect_to is not None:
                self.send_response(302)
                self.send_header("Location", registry.redirect_to)
                self.end_headers()
                return
            body = json.dumps(content).encode() if not isinstance(content, bytes) else content
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self._write(body)

        def _write(self, body: bytes) -> None:
            if not registry.drip_s:
                self.wfile.write(body)
                return
            for byte in body:
                try:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(registry.drip_s)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    registry.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
