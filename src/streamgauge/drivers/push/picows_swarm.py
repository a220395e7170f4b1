"""Push sessions read in Python, on picows, over TLS and where no loop was compiled: the twin of the loop."""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import version
from typing import Any

import picows

from streamgauge.drivers.push.access import GatewayAccess
from streamgauge.drivers.push.requests import SUBPROTOCOL
from streamgauge.drivers.push.sessions import LoadSession, MeasuredSession
from streamgauge.drivers.push.swarm import HANDSHAKE_S, PushSwarm
from streamgauge.drivers.swarm import Heard, SwarmOptions
from streamgauge.native.loading import Loop

# An adapter: of a plain logger picows would make a child for each connection, and keep it.
_LOGGER = logging.LoggerAdapter(logging.getLogger("streamgauge.push"), {})
_BUFFER_BYTES = 2048


class PicowsSwarm(PushSwarm):
    loop: Loop = "python"

    def __init__(self, options: SwarmOptions, heard: Heard, access: GatewayAccess) -> None:
        super().__init__(options, heard, access)
        self._tls = access.context()
        self._sessions: dict[int, LoadSession] = {}

    async def join(self, place: int) -> None:
        kind = MeasuredSession if place in self.options.measured else LoadSession
        session = kind(self, place)
        made = self.own_socket(place)
        try:
            await picows.ws_connect(
                lambda: session,
                self.access.address.url,
                ssl_context=self._tls,
                logger_name=_LOGGER,
                websocket_handshake_timeout=HANDSHAKE_S,
                read_buffer_init_size=_BUFFER_BYTES,
                max_frame_size=self.most_message_bytes,
                extra_headers={"Sec-WebSocket-Protocol": SUBPROTOCOL},
                socket_factory=lambda _: made,
                max_redirects=0,
                proxy=None,
            )
        except BaseException as error:
            # It is ours until a connection has it: where nobody listens none ever does.
            if made is not None:
                made.close()
            if isinstance(error, picows.WSError):
                raise ConnectionError(str(error)) from None
            raise
        self._sessions[place] = session

    def forget(self, place: int) -> None:
        _disconnect(self._sessions.pop(place, None))

    def serve(self, seconds: float) -> None:
        self.events.run_until_complete(asyncio.sleep(seconds))

    def settings_in_force(self) -> dict[str, Any]:
        library = " ".join(f"{name} {version(name)}" for name in ("picows", "uvloop"))
        return {"library": library, **super().settings_in_force()}

    def close_all(self) -> None:
        for session in self._sessions.values():
            _disconnect(session)
        self._sessions = {}
        self.events.run_until_complete(asyncio.sleep(0.05))


def _disconnect(session: LoadSession | None) -> None:
    if session is not None and session.transport is not None:
        session.transport.disconnect(graceful=False)
