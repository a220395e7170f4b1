"""Servers on this machine that somebody else has started, found by the port that they listen on."""

from __future__ import annotations

import ipaddress
import socket

import psutil


def processes_at(host: str, port: int) -> list[int]:
    """Ids of the processes that listen there; none where that is another machine, or not ours to see.

    Several may share a port. Of a process of another user nobody but root is told who it is.
    """
    addresses = _addresses_here(host)
    if not addresses:
        return []
    try:
        found = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return []
    pids = set[int]()
    for connection in found:
        if connection.status != psutil.CONN_LISTEN or connection.pid is None or not connection.laddr:
            continue
        is_there = _plain(connection.laddr.ip) in addresses or _is_any(connection.laddr.ip)
        if is_there and connection.laddr.port == port:
            pids.add(connection.pid)
    return sorted(pids)


def _addresses_here(host: str) -> set[str]:
    """Those that the name stands for, where they are this machine's."""
    try:
        told = {_plain(str(info[4][0])) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError:
        return set()
    own = {_plain(each.address) for link in psutil.net_if_addrs().values() for each in link}
    return {address for address in told if address in own or ipaddress.ip_address(address).is_loopback}


def _plain(address: str) -> str:
    """IPv6 without the link that it is of; an address of IPv4 in it as what it is."""
    address = address.partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address


def _is_any(address: str) -> bool:
    return _plain(address) in ("0.0.0.0", "::")
