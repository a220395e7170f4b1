"""Where agents' processes of a host come from: a process that has imported what every agent needs, and forks.

Importing it is half a second of CPU and 60 MiB for each, just before the load that is to be measured. What is
forked shares both. Whoever has the socket asks for a process: a datagram with its environment, and with
its standard input, output and error and the socket on which its id and its exit code are told.

It ends when nobody has the socket any more. Python's own (`multiprocessing.forkserver`) cannot be asked by
processes that were forked from the one that started it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import traceback
from typing import Any, NamedTuple

from streamgauge.agents.malloc import WITH_TUNED_MALLOC

_OF_EVERY_AGENT = "streamgauge.agents.process"
_LONGEST_REQUEST_BYTES = 200_000
"""What fits into one datagram as Linux is set by default."""
_DESCRIPTORS = 4


class Door(NamedTuple):
    requests: socket.socket
    server: subprocess.Popen[bytes]


doors: list[Door] = []
"""Where to ask, in the process that opened it and in all that are forked from it; or there is none."""


def open_door(module: str = _OF_EVERY_AGENT) -> None:
    """Start the server, if this system has what it takes; its processes end with those who may ask."""
    if not hasattr(socket, "SOCK_SEQPACKET") or not hasattr(socket, "send_fds"):
        return
    try:
        requests, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError:  # not on this system
        return
    with inside:
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(inside.fileno()), module],
            stdin=subprocess.DEVNULL,
            pass_fds=[inside.fileno()],
            # Agents multiply no matrices; a thread for that would be one more that a fork leaves behind.
            env={**os.environ, **WITH_TUNED_MALLOC, "OPENBLAS_NUM_THREADS": "1"},
        )
    doors[:] = [Door(requests, server)]


def ask(stdin: int, stdout: int, stderr: int) -> socket.socket | None:
    """For an agent's process with this one's environment; on the socket come its id and its exit code.

    None: there is no server, and the process has to be started as any other.
    """
    request = json.dumps(dict(os.environ)).encode()
    if not doors or len(request) > _LONGEST_REQUEST_BYTES:
        return None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            socket.send_fds(doors[0].requests, [request], [stdin, stdout, stderr, theirs.fileno()])
        except OSError:  # it has ended
            ours.close()
            return None
    return ours


class ForkServer:
    """One thread, or a fork would leave behind what another one holds."""

    def __init__(self, requests: socket.socket, module: Any) -> None:
        """`module`: what is forked calls its `main`."""
        self._requests, self._module = requests, module
        self._telling: dict[int, socket.socket] = {}
        """By process id: whom to tell how it ended."""
        self._woken, waking = socket.socketpair()
        waking.setblocking(False)
        self._woken.setblocking(False)
        self._waking = waking
        signal.signal(signal.SIGCHLD, lambda *_: None)  # whoever started us may ignore it, and so would we
        signal.set_wakeup_fd(waking.fileno())

    def serve(self) -> int | None:
        """In the server None, when nobody can ask any more; in every process that is forked its exit code."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._woken in ready:
                    self._woken.recv(4096)
                    self._tell_of_ended()
                if self._requests in ready:
                    request, descriptors, _, _ = socket.recv_fds(
                        self._requests, _LONGEST_REQUEST_BYTES, _DESCRIPTORS
                    )
                    if not request:
                        return None
                    if self._fork(descriptors) == 0:
                        selector.close()
                        return self._become_agent(json.loads(request), descriptors)

    def _fork(self, descriptors: list[int]) -> int | None:
        """None: there is no room for one more, which who asked learns from the end of the socket."""
        try:
            pid = os.fork()
        except OSError:
            traceback.print_exc()
            for descriptor in descriptors:
                os.close(descriptor)
            return None
        told = socket.socket(fileno=descriptors[-1])
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for ours in (told, self._requests, self._woken, self._waking, *self._telling.values()):
                ours.close()
            return 0
        for descriptor in descriptors[:-1]:
            os.close(descriptor)
        self._telling[pid] = told
        _tell(told, {"pid": pid})
        return pid

    def _tell_of_ended(self) -> None:
        while self._telling:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with self._telling.pop(pid) as told:
                _tell(told, {"exit_code": os.waitstatus_to_exitcode(status)})

    def _become_agent(self, environment: dict[str, str], descriptors: list[int]) -> int:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate(descriptors[:-1]):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        try:
            code: int = self._module.main()
        except BaseException:
            traceback.print_exc()
            return 1
        return code


def _tell(whom: socket.socket, what: dict[str, int]) -> None:
    try:
        whom.send(json.dumps(what).encode())
    except OSError:
        return  # whoever asked has ended


def main() -> int:
    descriptor, module = sys.argv[1:]
    loaded = importlib.import_module(module)
    # What is never looked at by a collector is never copied for a process that only reads it.
    gc.collect()
    gc.freeze()
    return ForkServer(socket.socket(fileno=int(descriptor)), loaded).serve() or 0


if __name__ == "__main__":
    code = main()
    # Without the interpreter's farewell, in which a library's threads may get stuck.
    sys.stderr.flush()
    os._exit(code)
