"""A session over plain HTTP streaming, by hand: for tests that look at what a whole gateway sends."""

from __future__ import annotations

import http.client
import socket
import time
from types import TracebackType
from typing import Self

_DEADLINE_S = 30.0
_PROTOCOL = "LS_protocol=TLCP-2.5.0"


def ask(address: str, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    """Status and body of one request on a connection of its own."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=_DEADLINE_S)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


class PlainSession:
    """Opened when it is made; `said` is all that has come."""

    def __init__(self, address: str, adapter_set: str) -> None:
        self._address, self.said = address, ""
        host, _, port = address.removeprefix("http://").partition(":")
        self._stream = socket.create_connection((host, int(port)), timeout=_DEADLINE_S)
        body = f"LS_adapter_set={adapter_set}&LS_cid=test".encode()
        head = f"POST /lightstreamer/create_session.txt?{_PROTOCOL} HTTP/1.1\r\nHost: x\r\n"
        self._stream.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.wait_for("CONS,")
        self.id = self.said.split("CONOK,")[1].split(",")[0]

    def subscribe(self, item: str, fields: str, mode: str = "MERGE", **more: str) -> str:
        """The answer to the request, which goes over a connection of its own."""
        given = {"LS_reqId": "1", "LS_op": "add", "LS_subId": "1", "LS_mode": mode, "LS_group": item, **more}
        parameters = "&".join(f"{name}={value}" for name, value in given.items())
        path = f"/lightstreamer/control.txt?{_PROTOCOL}&LS_session={self.id}"
        return ask(self._address, "POST", path, f"{parameters}&LS_schema={fields}")[1]

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + _DEADLINE_S
        while text not in self.said:
            assert time.monotonic() < until, self.said
            self._receive()

    def wait_for_end(self) -> None:
        while self._receive():
            pass

    def updates(self) -> list[str]:
        """What follows the item's number in every update."""
        return [line.split(",", 3)[3] for line in self.said.splitlines() if line.startswith("U,")]

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self) -> bool:
        data = self._stream.recv(65_536)
        self.said += data.decode()
        return bool(data)
