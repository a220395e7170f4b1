"""Which loop reads a swarm's sessions: the compiled one, or its twin in Python."""

from __future__ import annotations

from streamgauge.drivers.push.access import GatewayAccess
from streamgauge.drivers.push.swarm import PushSwarm
from streamgauge.drivers.swarm import Heard, HeardRows, SwarmOptions
from streamgauge.native.loading import compiled_loops


def open_swarm(
    options: SwarmOptions,
    heard: Heard,
    access: GatewayAccess,
    heard_rows: HeardRows | None = None,
    *,
    as_objects: bool = False,
) -> PushSwarm:
    """`as_objects`: in Python all the same. TLS is Python's, too."""
    loops = None if as_objects or access.address.is_secure else compiled_loops("swarm")
    if loops is None:
        from streamgauge.drivers.push.picows_swarm import PicowsSwarm

        return PicowsSwarm(options, heard, access)
    from streamgauge.drivers.push.native_swarm import NativeSwarm

    return NativeSwarm(options, heard, access, loops, heard_rows)
