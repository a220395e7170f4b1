"""A token endpoint in this process, as long as a test needs one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from streamgauge.systems.token_endpoint import TokenServer


@contextmanager
def serving_tokens(clients: dict[str, str]) -> Iterator[TokenServer]:
    with TokenServer(clients) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield server
        finally:
            server.shutdown()
            serving.join(60)
