"""The live page: served on this machine alone, as long as the run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from streamgauge.launch.serving import Serving

_HOST = "127.0.0.1"
_REQUEST_DEADLINE_S = 10.0


class LivePage:
    """`/` is the page, `/live_plot.js` what it draws with, `/live.json` what it asks for once a second."""

    def __init__(self, document: Callable[[], dict[str, Any]]) -> None:
        files = resources.files("streamgauge.launch")
        page, script = (files.joinpath(name).read_bytes() for name in ("live_page.html", "live_plot.js"))
        answers = {
            "/": ("text/html; charset=utf-8", lambda: page),
            "/live_plot.js": ("text/javascript; charset=utf-8", lambda: script),
            "/live.json": ("application/json", lambda: json.dumps(document()).encode()),
        }
        handler = type("_Handler", (_Handler,), {"answers": answers})
        server = ThreadingHTTPServer((_HOST, 0), handler)
        server.daemon_threads = True
        self.address = f"http://{_HOST}:{server.server_address[1]}/"
        self._serving = Serving(server, "live-page")

    def close(self) -> None:
        self._serving.close()


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
