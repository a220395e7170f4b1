"""A port belongs to one gateway at a time.

Processes of one user may share a port (SO_REUSEPORT). The processes of one gateway do; an old gateway and a
new one would too, and none of them would notice. So whoever is going to listen holds a name first, which
the kernel gives to one holder only and takes back when its last process has ended, however it ended. It is
a name of Linux's abstract sockets: valid where the port is (a network namespace), and no file that stays.
"""

from __future__ import annotations

import socket
import sys
import time

import psutil

from streamgauge.core.errors import BadInput

_WAIT_S = 2.0
"""For one that is just ending: a gateway that is killed and started again at once must come up."""
_POLL_S = 0.05
_TAKEN = "end it, or choose another port (--port, --monitoring-port)"


def lock_port(host: str, port: int, *, wait_s: float = _WAIT_S) -> socket.socket:
    """Hold a port as long as the socket returned is open, here or in a process forked from here.

    Raises BadInput when another gateway holds it.
    """
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if sys.platform != "linux":
        return held  # There, only the check with an unshared socket is left, see `serving`.
    name = f"streamgauge-gateway/{_address(host, port)}/{port}"
    until_s = time.monotonic() + wait_s
    while True:
        try:
            held.bind(f"\0{name}")
            return held
        except OSError:
            if time.monotonic() > until_s:
                held.close()
                raise BadInput(
                    f"{host}:{port}: a gateway has this port already{_who_holds(name)}: {_TAKEN}"
                ) from None
        time.sleep(_POLL_S)


def who_listens(port: int) -> str:
    """Words that go behind "address already in use": by whom, if that can be seen, and what to do."""
    try:
        found = psutil.net_connections("tcp")
    except psutil.Error:
        found = []
    listening = [each for each in found if each.status == psutil.CONN_LISTEN]
    pids = [each.pid for each in listening if each.pid and tuple(each.laddr)[1:] == (port,)]
    return f"{_named(psutil.Process(pids[0])) if pids else ''}: {_TAKEN}"


def _who_holds(name: str) -> str:
    """Of a gateway with several processes, the one that watches over the others: ending it ends them."""
    try:
        pids = [each.pid for each in psutil.net_connections("unix") if str(each.laddr) == f"@{name}"]
        holder = psutil.Process(pids[0]) if pids else None
        while holder is not None and (parent := holder.parent()) is not None and _holds(parent, name):
            holder = parent
    except psutil.Error:
        return ""
    return _named(holder) if holder is not None else ""


def _holds(process: psutil.Process, name: str) -> bool:
    try:
        return any(str(each.laddr) == f"@{name}" for each in process.net_connections("unix"))
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f", process {process.pid} ({process.name()})"
    except psutil.Error:
        return ""


def _address(host: str, port: int) -> str:
    """The same for all names of an address; what is no host's name is told when it is listened on."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return host
    return str(found[0][4][0])
