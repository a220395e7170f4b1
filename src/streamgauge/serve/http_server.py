"""Connections in, answers out; nothing waits without a deadline, and nobody takes more than a share.

HTTP itself is read and written by `gateway.server.http_messages`, which refuses what h11 forgives. What is
here is what a server of few pages and many viewers needs around it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from http import HTTPStatus

from streamgauge.gateway.server.framing import LAST_CHUNK
from streamgauge.gateway.server.http_messages import MAX_HEAD_BYTES, BadHttp, Exchange, refusal
from streamgauge.serve.requests import Answer, Flow, Request

_LOGGER = logging.getLogger("streamgauge.serve")
_HEAD_END = b"\r\n\r\n"
_UNSENT_BYTES = 1 << 20
_END_S = 5.0
_LINGER_S = 2.0

Handler = Callable[[Request], Awaitable[Answer | Flow]]


@dataclass(frozen=True)
class Limits:
    connections: int = 256
    body_bytes: int = 65_536
    head_s: float = 10.0
    """From when a connection is open, or has been answered, until the whole head of a request is there."""
    body_s: float = 20.0
    answer_s: float = 120.0
    """Until an answer is made: a comparison of long runs takes its time."""
    write_s: float = 20.0
    """A client that takes nothing for so long is not there any more."""


class HttpServer:
    def __init__(self, handler: Handler, limits: Limits | None = None) -> None:
        self._handler, self._limits = handler, limits or Limits()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """The port that it listens on; OSError when it cannot."""
        self._server = await asyncio.start_server(self._connected, host, port, limit=MAX_HEAD_BYTES)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=_END_S)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > self._limits.connections:
                await self._refuse(
                    BadHttp(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections"), reader, writer
                )
                return
            while await self._exchange(reader, writer):
                pass
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            pass  # whoever it was is gone, or we are
        finally:
            self._connections.discard(task)
            with suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether another may follow."""
        try:
            raw_head = await self._head(reader)
            if raw_head is None:
                return False
            exchange = Exchange(raw_head)
            if length := exchange.body_length(self._limits.body_bytes):
                writer.write(exchange.invitation())
                async with asyncio.timeout(self._limits.body_s):
                    raw_body = await reader.readexactly(length)
            else:
                raw_body = b""
            peer = str((writer.get_extra_info("peername") or ("",))[0])
            answer = await self._answer(Request.of(exchange.head, exchange.body(raw_body), peer))
        except asyncio.IncompleteReadError:
            return False
        except BadHttp as bad:
            await self._refuse(bad, reader, writer)
            return False
        if isinstance(answer, Flow):
            await self._flow(exchange, answer, writer)
            return False
        writer.write(
            exchange.answer(
                answer.status, answer.body, content_type=answer.content_type, headers=answer.headers
            )
        )
        await self._drained(writer)
        return exchange.head.keeps_alive

    async def _refuse(self, bad: BadHttp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """What was sent is read, up to a point: who closes with something unread takes back the answer."""
        writer.write(refusal(bad))
        if len(self._connections) > 2 * self._limits.connections:
            return  # there is no time for manners
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(_LINGER_S):
                await writer.drain()
                writer.write_eof()
                left = _UNSENT_BYTES
                while left > 0 and (piece := await reader.read(65_536)):
                    left -= len(piece)

    async def _head(self, reader: asyncio.StreamReader) -> bytes | None:
        """None: the client has nothing more to ask."""
        try:
            async with asyncio.timeout(self._limits.head_s):
                return await reader.readuntil(_HEAD_END)
        except asyncio.LimitOverrunError:
            raise BadHttp(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"request headers may have at most {MAX_HEAD_BYTES} bytes",
            ) from None
        except asyncio.IncompleteReadError:
            return None

    async def _answer(self, request: Request) -> Answer | Flow:
        try:
            async with asyncio.timeout(self._limits.answer_s):
                return await self._handler(request)
        except TimeoutError:
            raise BadHttp(HTTPStatus.SERVICE_UNAVAILABLE, "this took too long; try again") from None
        except (BadHttp, ConnectionError):
            raise
        except Exception:
            # A fault of ours: it is told where we log, and not to whoever asked.
            _LOGGER.exception("%s /%s", request.method, "/".join(request.path))
            raise BadHttp(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "something went wrong here; run streamgauge serve -d to see what",
            ) from None

    async def _flow(self, exchange: Exchange, flow: Flow, writer: asyncio.StreamWriter) -> None:
        if not exchange.head.minor:
            raise ConnectionError("HTTP/1.0 knows no chunks")
        async with aclosing(flow.chunks) as chunks:
            writer.write(exchange.stream_head(flow.headers, content_type=flow.content_type))
            if exchange.head.method != "HEAD":
                async for chunk in chunks:
                    if writer.transport.get_write_buffer_size() > _UNSENT_BYTES:
                        return
                    writer.write(chunk)
                    await self._drained(writer)
                writer.write(LAST_CHUNK)
            await self._drained(writer)

    async def _drained(self, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(self._limits.write_s):
            await writer.drain()
