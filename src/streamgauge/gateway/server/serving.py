"""Running the push server until somebody ends it: in this process, or in several on one port."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import uvloop

from streamgauge.core.errors import StreamgaugeError, SystemFailed
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.neighbours import Neighbours
from streamgauge.gateway.server.server import Page, PushServer, listening_socket
from streamgauge.gateway.server.settings import ServerSettings

MakeAdapterSet = Callable[[int], AdapterSet]
"""Given the number of the process, from 0; called once in each process, before its loop runs."""
_READY = b"+"
_STOP_DEADLINE_S = 10.0


def serve(
    settings: ServerSettings,
    make_adapter_set: MakeAdapterSet,
    *,
    processes: int = 1,
    pages: Mapping[str, Page] | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM. `ready` is told the address as soon as clients can come."""
    listener = listening_socket(settings, shared=processes > 1)
    address = _address(settings, listener)
    if processes == 1:
        alone = _Process(settings, make_adapter_set, pages, 0, None)
        alone.serve(listener, lambda: ready(address))
        return
    # The socket stays bound, and never listens: it keeps the port while processes come and go.
    bound = settings.model_copy(update={"port": listener.getsockname()[1]})
    neighbours = Neighbours(processes)
    children: dict[int, int] = {}
    try:
        for number in range(processes):
            pid, pipe = _fork(_Process(bound, make_adapter_set, pages, number, neighbours), listener)
            children[pid] = pipe
        _watch(children, lambda: ready(address))
    finally:
        _end(children)
        neighbours.close()
        listener.close()


@dataclass(frozen=True)
class _Process:
    settings: ServerSettings
    make_adapter_set: MakeAdapterSet
    pages: Mapping[str, Page] | None
    number: int
    neighbours: Neighbours | None

    def serve(self, listener: socket.socket, ready: Callable[[], object]) -> None:
        adapter_set = self.make_adapter_set(self.number)

        async def run() -> None:
            stopped = asyncio.Event()
            loop = asyncio.get_running_loop()
            for sent in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(sent, stopped.set)
            server = PushServer(
                self.settings,
                [adapter_set],
                pages=self.pages,
                process=self.number,
                neighbours=self.neighbours,
            )
            await server.start(listener)
            ready()
            await stopped.wait()
            await server.stop()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run())


def _fork(process: _Process, reserved: socket.socket) -> tuple[int, int]:
    """Start a process; its id, and a pipe on which it says that it is ready, and whose end is its end."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        os.close(reading)
        reserved.close()
        listener = listening_socket(process.settings, shared=True)
        process.serve(listener, lambda: os.write(writing, _READY))
        code = 0
    except StreamgaugeError as error:
        print(f"streamgauge: process {process.number}: {error}", file=sys.stderr)  # noqa: T201
        code = error.exit_code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Whatever the parent has left to do is not for this process to do too.
        os._exit(code)


def _watch(children: Mapping[int, int], ready: Callable[[], None]) -> None:
    """Until a signal to end, or until one of them has ended, which is an error."""
    wake_reading, wake_writing = os.pipe()
    os.set_blocking(wake_writing, False)
    old_wakeup = signal.set_wakeup_fd(wake_writing)
    old = {sent: signal.signal(sent, lambda *_: None) for sent in (signal.SIGINT, signal.SIGTERM)}
    waiting = set(children.values())
    try:
        while True:
            readable, _, _ = select.select([wake_reading, *children.values()], [], [])
            for pipe in readable:
                if pipe == wake_reading:
                    return
                if os.read(pipe, 1) != _READY:
                    raise SystemFailed("one of the gateway's processes has ended; the others are ended too")
                waiting.discard(pipe)
                if not waiting:
                    ready()
    finally:
        for sent, handler in old.items():
            signal.signal(sent, handler)
        signal.set_wakeup_fd(old_wakeup)
        os.close(wake_reading)
        os.close(wake_writing)


def _end(children: Mapping[int, int]) -> None:
    for pid in children:
        os.kill(pid, signal.SIGTERM)
    for pid, pipe in children.items():
        # The pipe ends with the process: a wait with a deadline.
        ended = _wait_for_end(pipe)
        if not ended:
            os.kill(pid, signal.SIGKILL)
        os.close(pipe)
        os.waitpid(pid, 0)


def _wait_for_end(pipe: int) -> bool:
    while select.select([pipe], [], [], _STOP_DEADLINE_S)[0]:
        if not os.read(pipe, 1):
            return True
    return False


def _address(settings: ServerSettings, listener: socket.socket) -> str:
    scheme = "http" if settings.tls_certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{listener.getsockname()[1]}"
