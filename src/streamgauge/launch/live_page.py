"""The live page: served on this machine alone, as long as the run goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

_HOST = "127.0.0.1"
_END_DEADLINE_S = 5.0
_REQUEST_DEADLINE_S = 10.0


class LivePage:
    """`/` is the page, `/live.json` what it asks for once a second."""

    def __init__(self, document: Callable[[], dict[str, Any]]) -> None:
        page = resources.files("streamgauge.launch").joinpath("live_page.html").read_bytes()
        answers = {
            "/": ("text/html; charset=utf-8", lambda: page),
            "/live.json": ("application/json", lambda: json.dumps(document()).encode()),
        }
        handler = type("_Handler", (_Handler,), {"answers": answers})
        self._server = ThreadingHTTPServer((_HOST, 0), handler)
        self._server.daemon_threads = True
        self.address = f"http://{_HOST}:{self._server.server_address[1]}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="live-page", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_END_DEADLINE_S)


class _Handler(BaseHTTPRequestHandler):
    answers: dict[str, tuple[str, Callable[[], bytes]]]
    timeout = _REQUEST_DEADLINE_S

    def do_GET(self) -> None:
        known = self.answers.get(self.path)
        if known is None:
            self.send_error(404)
            return
        kind, content = known[0], known[1]()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""
