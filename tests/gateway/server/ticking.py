"""A push server as a process of its own, or several, which publishes a count to whoever is subscribed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .running import DEADLINE_S, Port

_PROGRAM = """
    import asyncio, os, sys
    from tests.gateway.server.memory_source import MemorySource
    from streamgauge.gateway.server.contract import AdapterSet
    from streamgauge.gateway.server.serving import serve
    from streamgauge.gateway.server.settings import ServerSettings

    if sys.argv[3] == "portable":
        from streamgauge.gateway.server import children

        children.die_with_parent = lambda: None

    class Ticker(MemorySource):
        def __init__(self, process):
            super().__init__()
            self.process = process

        def start(self, listener):
            super().start(listener)
            self.task = asyncio.get_running_loop().create_task(self.tick())

        async def tick(self):
            count = 0
            while True:
                await asyncio.sleep(0.01)
                count += 1
                for item in list(self.subscribed):
                    fields = {"process": str(self.process), "count": str(count), "pid": str(os.getpid())}
                    self.listener.publish(item, fields)

        def close(self):
            self.task.cancel()
            super().close()
            os.write(1, f"closed {self.process}\\n".encode())  # whole, whoever else writes

    serve(
        ServerSettings.model_validate({"port": int(sys.argv[2])}),
        lambda process: AdapterSet("TEST", {"DEFAULT": Ticker(process)}),
        processes=int(sys.argv[1]),
        ready=lambda addresses: print("ready", *addresses, flush=True),
    )
    print("ended", flush=True)
"""


class DidNotStart(Exception):
    """With what it said."""


@dataclass(frozen=True)
class Ticking:
    port: int
    monitoring: Port
    process: subprocess.Popen[str]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def ticking(processes: int, port: int = 0, *, kernel_ends_it: bool = True) -> Iterator[Ticking]:
    """Item names are free; fields are `process` (which one publishes), `count` (one more each time) and
    `pid`. `kernel_ends_it`: its processes die with their parent by the kernel's doing, where it can."""
    how = "kernel" if kernel_ends_it else "portable"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_PROGRAM), str(processes), str(port), how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        addresses = process.stdout.readline().removeprefix("ready ").split()
        if not addresses:
            raise DidNotStart(process.communicate(timeout=DEADLINE_S)[1])
        clients, monitoring = (int(address.rpartition(":")[2]) for address in addresses)
        yield Ticking(clients, Port(monitoring), process)
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=DEADLINE_S)
