"""What whoever runs the server may read of it, at an address of its own: clients have no business there."""

from __future__ import annotations

from http import HTTPStatus

from streamgauge.gateway.server.http_exchanges import HttpExchanges
from streamgauge.gateway.server.http_messages import BadHttp, Exchange
from streamgauge.gateway.server.origins import is_loopback, is_rebindable


class MonitoringConnection(HttpExchanges):
    """/healthz and /metrics, and nothing else."""

    __slots__ = ()

    def _respond(self, exchange: Exchange, body: bytes) -> None:
        headers = exchange.head.headers
        is_private = is_loopback(self._server.settings.monitoring_host)
        # A name that leads here may be anybody's, who thereby makes this his page's own origin.
        if "origin" in headers or (is_private and is_rebindable(headers.get("host", ""))):
            raise BadHttp(HTTPStatus.FORBIDDEN, "this is not for web pages; ask by address, or as localhost")
        self._answer_page(exchange, self._server.monitoring_page(exchange.head.path))
