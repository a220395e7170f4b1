"""One look a second for all who watch a run: what is sent is made once, the same bytes for everybody."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from http import HTTPStatus
from typing import Any

from streamgauge.core.errors import StreamgaugeError
from streamgauge.gateway.server.framing import http_chunk
from streamgauge.serve.live_look import LiveLook
from streamgauge.serve.requests import Refused

EVERY_S = 1.0
_REPEATED_ROWS = 5
"""Who was late for a look has the rows of it with the next."""
_LINGER_S = 30.0
"""So long it goes on looking after the last viewer went: a page that is loaded anew finds its past."""
_STALLED_S = 60.0
_RETRY = b"retry: 2000\n\n"
_OUR_FAULT = "looking at it failed here, the run may go on; run streamgauge serve -d to see what went wrong"
_LOGGER = logging.getLogger("streamgauge.serve")


class LiveFeed:
    def __init__(self, make_look: Callable[[], LiveLook], *, every_s: float = EVERY_S) -> None:
        self._make_look, self._every_s = make_look, every_s
        self._task: asyncio.Task[None] | None = None
        self._next = asyncio.Event()
        self._told: dict[str, Any] = {}
        self._rows: list[list[float | None]] = []
        self._chunk = self._whole = b""
        self._is_over = False
        self.viewers = self.looks = 0
        """`looks`: how often the run was looked at, however many looked on."""

    async def follow(self) -> AsyncGenerator[bytes, None]:
        """Chunks, until the run is over: first all that is known, then what is new."""
        self.viewers += 1
        try:
            if self._task is None:
                self._task = asyncio.create_task(self._go_on())
            yield http_chunk(_RETRY)
            if not self.looks:
                await self._wait()
            seen = self.looks
            yield self._whole_chunk()
            while not (self._is_over and seen == self.looks):
                if seen == self.looks:
                    await self._wait()
                seen = self.looks
                yield self._chunk
        finally:
            self.viewers -= 1

    @property
    def is_done(self) -> bool:
        """Nobody has looked on for a while, or there is nothing left to be seen."""
        return self._task is not None and self._task.done()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _whole_chunk(self) -> bytes:
        """Made when the first asks for it, for all who come before the next look."""
        if not self._whole:
            self._whole = _event({**self._told, "rows": self._rows})
        return self._whole

    async def _wait(self) -> None:
        """For the next look. One that takes so long does not come any more."""
        async with asyncio.timeout(_STALLED_S):
            await self._next.wait()

    async def _go_on(self) -> None:
        """Whatever goes wrong, nobody is left to wait for a look that does not come."""
        try:
            await self._look_on()
        except StreamgaugeError as error:
            reason = str(error)
        except Exception:
            _LOGGER.exception("looking at a run in progress")
            reason = _OUR_FAULT
        else:
            return
        self._is_over = True
        self._tell({**self._told, "is_over": True, "state": "gone", "reason": reason}, [])

    async def _look_on(self) -> None:
        seen = await asyncio.to_thread(self._make_look)
        idle_s = 0.0
        while idle_s < _LINGER_S and not self._is_over:
            told = await asyncio.to_thread(seen.look)
            self._is_over = bool(told["is_over"])
            self._tell(told, list(seen.rows))
            if not self._is_over:
                await asyncio.sleep(self._every_s)
            idle_s = 0.0 if self.viewers else idle_s + self._every_s

    def _tell(self, told: dict[str, Any], rows: list[list[float | None]]) -> None:
        self._chunk = _event({**told, "rows": rows[-_REPEATED_ROWS:]})
        self._told, self._rows, self._whole = told, rows, b""
        self.looks += 1
        heard, self._next = self._next, asyncio.Event()
        heard.set()


class LiveFeeds:
    """One for every run that somebody watches."""

    def __init__(self, most_viewers: int, *, every_s: float = EVERY_S) -> None:
        self._most, self._every_s = most_viewers, every_s
        self.feeds: dict[str, LiveFeed] = {}

    def of(self, name: str, make_look: Callable[[], LiveLook]) -> LiveFeed:
        """Raises Refused when too many look on already."""
        self.feeds = {name: feed for name, feed in self.feeds.items() if not feed.is_done}
        if sum(feed.viewers for feed in self.feeds.values()) >= self._most:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, f"{self._most} viewers are watching already")
        return self.feeds.setdefault(name, LiveFeed(make_look, every_s=self._every_s))

    async def close(self) -> None:
        for feed in self.feeds.values():
            await feed.close()


def _event(content: dict[str, Any]) -> bytes:
    return http_chunk(f"data: {json.dumps(content, separators=(',', ':'))}\n\n".encode())
