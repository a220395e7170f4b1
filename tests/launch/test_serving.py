from __future__ import annotations

import socket
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from streamgauge.launch.serving import Serving


def test_it_answers_until_it_is_closed() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    address = ("127.0.0.1", server.server_address[1])
    serving = Serving(server, "served-here")
    with socket.create_connection(address, timeout=5) as link:
        link.sendall(b"OPTIONS / HTTP/1.0\r\n\r\n")
        assert link.recv(5) == b"HTTP/"
    assert "served-here" in {thread.name for thread in threading.enumerate()}
    serving.close()
    assert "served-here" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(address, timeout=5)
