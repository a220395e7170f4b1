"""Lightstreamer's own clients, unchanged, when the wire breaks or clogs, or the server goes."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from . import node_client, python_client
from .python_client import Followed, hasty
from .raw_client import get
from .running import DEADLINE_S, running
from .ticking import Ticking, ticking
from .wire import Wire, wired

MOST_CUTS = 20
_HANDED_OVER = re.compile(r'connections_handed_over_total{process="(\d)"} (\d+)')


class Counting:
    """A client that follows the count of a ticking server."""

    def __init__(self, wait_for: Callable[[int], object], rows: Callable[[], list[Any]]) -> None:
        self._wait_for, self._rows = wait_for, rows

    def wait_for_more(self, count: int) -> None:
        self._wait_for(len(self._rows()) + count)

    def counts(self) -> dict[str, list[int]]:
        """By the server's process."""
        found: dict[str, list[int]] = {}
        for pid, count in self._rows():
            found.setdefault(pid, []).append(int(count))
        return found


def is_whole(counts: list[int]) -> bool:
    return counts == list(range(counts[0], counts[0] + len(counts)))


def python_counting(wire: Wire) -> tuple[AbstractContextManager[Any], Callable[[Any], Counting]]:
    def follow(client: python_client.Client) -> Counting:
        followed = client.follow(Followed("RAW", ["item"], ["pid", "count"]))
        followed.wait_for("subscribed")
        return Counting(followed.wait_for_updates, followed.updates)

    return python_client.connected(wire, prepare=hasty), follow


def node_counting(wire: Wire) -> tuple[AbstractContextManager[Any], Callable[[Any], Counting]]:
    def follow(client: node_client.NodeClient) -> Counting:
        client.follow("count", "RAW", ["item"], ["pid", "count"])
        return Counting(lambda count: client.wait_for_rows("count", count), lambda: client.rows("count"))

    return node_client.connected(wire), follow


@pytest.mark.parametrize("kind", [python_counting, node_counting])
def test_a_session_goes_on_whichever_process_the_client_comes_back_to(kind: Callable[..., Any]) -> None:
    with ticking(3) as server, wired(server) as wire:
        connecting, follow = kind(wire)
        with connecting as client:
            counting = follow(client)
            counting.wait_for_more(5)
            cuts = 0
            # Recovery is a POST and then a WebSocket: most of them come in where the session is not.
            while cuts < MOST_CUTS and not (cuts >= 3 and any(handed_over(server).values())):
                wire.cut()
                cuts += 1
                client.wait_for_state("CONNECTED:WS-STREAMING", times=cuts + 1)
                counting.wait_for_more(20)
            [counts] = counting.counts().values()
            assert is_whole(counts)
            assert any(handed_over(server).values())


def handed_over(server: Ticking) -> dict[str, int]:
    """By process, as often as it takes to have met all of them."""
    found: dict[str, int] = {}
    while len(found) < 3:
        match = _HANDED_OVER.search(get(server.monitoring, "/metrics").body)
        assert match is not None
        found[match[1]] = int(match[2])
    return found


@pytest.mark.parametrize("kind", [python_counting, node_counting])
def test_a_client_finds_the_server_that_takes_the_place_of_one_that_ended(kind: Callable[..., Any]) -> None:
    with ticking(1) as first, wired(first) as wire:
        connecting, follow = kind(wire)
        with connecting as client:
            counting = follow(client)
            counting.wait_for_more(5)
            first.process.terminate()
            first.process.wait(DEADLINE_S)
            with ticking(1, port=first.port):
                while len(counting.counts()) < 2:
                    counting.wait_for_more(1)
                counting.wait_for_more(5)
            assert all(is_whole(counts) for counts in counting.counts().values())


EVENTS, FILLER = 4000, "x" * 1000


def test_losses_are_announced_to_the_python_client() -> None:
    with running() as server, wired(server) as wire, python_client.connected(wire) as client:
        followed = client.follow(Followed("MERGE", ["much"], ["n", "filler"], MaxFrequency="unfiltered"))
        followed.wait_for("subscribed")
        wire.clog()
        server.publish_one_by_one("much", *[{"n": str(n), "filler": f"{n}{FILLER}"} for n in range(EVENTS)])
        wire.clear()
        rows = followed.wait_for_value(str(EVENTS - 1))
        lost = [note[2] for note in followed.notes.all() if note[0] == "lost"]  # type: ignore[index]
        assert lost
        assert len(rows) + sum(lost) == EVENTS
        assert [int(row[0] or "") for row in rows] == sorted({int(row[0] or "") for row in rows})
        assert server.metric("events_lost_total") == sum(lost)


def test_losses_are_announced_to_the_node_client_and_conflation_is_not() -> None:
    with running() as server, wired(server) as wire, node_client.connected(wire) as client:
        client.follow("all", "MERGE", ["much"], ["n", "filler"], MaxFrequency="unfiltered")
        client.follow("newest", "MERGE", ["much"], ["n"], MaxFrequency="unlimited")
        wire.clog()
        server.publish_one_by_one("much", *[{"n": str(n), "filler": f"{n}{FILLER}"} for n in range(EVENTS)])
        wire.clear()
        rows = client.wait_for_value("all", str(EVENTS - 1))
        newest = client.wait_for_value("newest", str(EVENTS - 1))
        lost = {name: [note[3] for note in client.noted(name, "lost")] for name in ("all", "newest")}
        assert len(rows) + sum(lost["all"]) == EVENTS
        assert lost["all"]
        assert not lost["newest"]
        assert len(newest) < EVENTS
