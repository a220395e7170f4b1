"""A server in a thread of its own, until it is closed."""

from __future__ import annotations

import threading
from socketserver import BaseServer

_LOOK_S = 0.1
"""How often it looks whether it is to end."""
_END_DEADLINE_S = 5.0


class Serving:
    def __init__(self, server: BaseServer, name: str) -> None:
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(_LOOK_S,), name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_END_DEADLINE_S)
