"""Hosts of the test's own: network namespaces on one bridge, gone after the test (Linux, as root)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

_NETWORK = "10.231.7"
_BRIDGE = "hosts"


class Hosts:
    """By name; the first has the bridge."""

    def __init__(self, names: Sequence[str]) -> None:
        self.addresses = {name: f"{_NETWORK}.{number}" for number, name in enumerate(names, 1)}
        self._spaces = {name: f"sg-{os.getpid()}-{name}" for name in names}

    def on(self, name: str, command: Sequence[str]) -> list[str]:
        """The command, to be run on that host; it is the process itself, not a child of it."""
        return ["ip", "netns", "exec", self._spaces[name], *command]

    def make(self, stack: ExitStack) -> None:
        first, *others = self._spaces.values()
        for space in (first, *others):
            _ip("netns", "add", space)
            stack.callback(_remove, space)
            _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", first, "link", "add", _BRIDGE, "type", "bridge")
        for number, space in enumerate(others):
            end = f"host{number}"
            _ip("-n", first, "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("-n", first, "link", "set", end, "master", _BRIDGE)
            _ip("-n", first, "link", "set", end, "up")
        links = [(first, _BRIDGE), *((space, "eth0") for space in others)]
        for (space, link), address in zip(links, self.addresses.values(), strict=True):
            _ip("-n", space, "addr", "add", f"{address}/24", "dev", link)
            _ip("-n", space, "link", "set", link, "up")


@contextmanager
def hosts(*names: str) -> Iterator[Hosts]:
    with ExitStack() as stack:
        made = Hosts(names)
        made.make(stack)
        yield made


@cache
def can_make_hosts() -> bool:
    try:
        with hosts("a", "b"):
            return True
    except (OSError, subprocess.SubprocessError):
        return False


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)


def _remove(space: str) -> None:
    with suppress(subprocess.SubprocessError):
        _ip("netns", "del", space)
