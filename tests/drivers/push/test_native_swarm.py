"""The compiled loop and its twin on the same bytes, cut at the same places; and servers that mean harm."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.push.access import GatewayAccess, parse_gateway
from streamgauge.drivers.push.opening import open_swarm
from streamgauge.drivers.push.swarm import PushSwarm
from streamgauge.drivers.swarm import SwarmOptions
from streamgauge.families.fanout.stamps import StampReader, stamp_text
from streamgauge.gateway.protocol import text_diff
from streamgauge.native.loading import compiled_loops
from tests.proof import PROOF

from .played_gateway import JOINED, PlayedGateway, played_gateway

pytestmark = pytest.mark.skipif(compiled_loops("swarm") is None, reason="no compiled loop here")

DEADLINE_S = 30.0
START_NS = 1_790_000_000_000_000_000
SEEDS = range(40) if PROOF else range(2)
PLACES = 48
LOOPS = ("native", "python")


class Noted:
    """What a swarm has told, however it was told, by client."""

    def __init__(self) -> None:
        self._reader = StampReader()
        self.updates: dict[int, list[int]] = {}
        self.by_rows = 0

    def heard(self, place: int, stamp: str, received_ns: int) -> None:
        stamp_ns = self._reader.read(stamp)
        assert 0 < received_ns <= time.monotonic_ns()
        self.updates.setdefault(place, []).append(stamp_ns)

    def rows(
        self, places: NDArray[np.int32], stamps_ns: NDArray[np.int64], received_ns: NDArray[np.int64]
    ) -> None:
        assert ((received_ns > 0) & (received_ns <= time.monotonic_ns())).all()
        self.by_rows += len(places)
        for place, stamp_ns in zip(places.tolist(), stamps_ns.tolist(), strict=True):
            self.updates.setdefault(place, []).append(stamp_ns)


def options(count: int, measured: frozenset[int], **more: Any) -> SwarmOptions:
    usual: dict[str, Any] = {
        "first": 0,
        "keys": tuple(range(count)),
        "key_names": tuple(f"k{number}" for number in range(count)),
        "measured": measured,
        "topic": "t",
        "start": {},
        "kind": "keyed",
        "group": None,
        "parse_json": False,
        "item": "ltest",
        "fields": ("key", "value"),
        "max_frequency": "unfiltered",
        "ramp_up_per_s": 1e6,
    }
    return SwarmOptions(**{**usual, **more})


def swarm_at(gateway: PlayedGateway, loop: str, wanted: SwarmOptions, noted: Noted) -> PushSwarm:
    access = GatewayAccess(parse_gateway(gateway.address))
    swarm = open_swarm(wanted, noted.heard, access, noted.rows, as_objects=loop == "python")
    assert swarm.loop == swarm.settings_in_force()["loop"] == loop
    return swarm


def frame(payload: bytes, *, opcode: int = 1, fin: bool = True) -> bytes:
    first = (0x80 if fin else 0) | opcode
    if len(payload) < 126:
        return bytes((first, len(payload))) + payload
    if len(payload) < 65_536:
        return struct.pack(">BBH", first, 126, len(payload)) + payload
    return struct.pack(">BBQ", first, 127, len(payload)) + payload


class Stream:
    """What one client is sent: seeded, and with all that a gateway may say, or should not."""

    def __init__(self, seed: int, place: int) -> None:
        self._random = random.Random(f"{seed} {place}")
        self._stamp_ns = START_NS + place
        self._value = ""
        self._messages = self._random.randrange(1, 12)

    def frames(self) -> Iterator[bytes]:
        for _ in range(self._messages):
            lines = [self._line() for _ in range(self._random.choice((1, 1, 1, 2, 5, 40)))]
            message = b"\r\n".join(lines) + self._random.choice((b"\r\n", b"\r\n", b"\r\n", b""))
            yield from self._cut(message)
            if self._random.random() < 0.1:
                yield frame(b"ping", opcode=9)
        yield self._last()

    def _cut(self, message: bytes) -> Iterator[bytes]:
        """Into frames, with others in between."""
        parts = self._random.choice((1, 1, 1, 2, 4))
        bounds = sorted(self._random.randrange(len(message) + 1) for _ in range(parts - 1))
        for number, (begin, end) in enumerate(zip([0, *bounds], [*bounds, len(message)], strict=True)):
            yield frame(message[begin:end], opcode=0 if number else 1, fin=number == parts - 1)
            if self._random.random() < 0.1:
                yield frame(b"", opcode=self._random.choice((9, 10)))

    def _line(self) -> bytes:
        drawn = self._random.random()
        if drawn < 0.1:
            others = (b"PROBE", b"SYNC,7", b"OV,1,1,3", b"", b"EOS,1,1", b"END,48,", b"U,1,2,a|b", b"U,1,1")
            return self._random.choice(others)
        if drawn < 0.12:
            return b"X" * self._random.randrange(70_000)
        return b"U,1,1," + self._update()

    def _update(self) -> bytes:
        self._stamp_ns += self._random.randrange(1, 3_000_000_000)
        text = self._random.choice(
            ("", "-U,1,1,-\rU,1,1,\n", "é", "x" * 200, "y" * self._random.choice((1, 1, 1, 70_000)))
        )
        value = f"{stamp_text(self._stamp_ns)}-pid-1-{text}"
        before, self._value = self._value, value
        written = value.replace("\r", "%0D").replace("\n", "%0A")
        if not before:
            return f"k|{written}".encode()
        drawn = self._random.random()
        if drawn < 0.05 and (diff := text_diff.diff(before, value)) is not None:
            encoded = diff.replace("\r", "%0D").replace("\n", "%0A")
            return f"|^T{encoded}".encode()
        if drawn < 0.1:
            self._value = before
            return self._random.choice((b"|", b"^2", b"other|"))
        if drawn < 0.12:
            self._value = before
            # The last of them are no updates of two fields, or have no time.
            return self._random.choice((b"^3", b"^0|a", b"a", b"|#", b"|$", b"|no time", b"\xff|\xff"))
        return f"{self._random.choice(('', '', 'key'))}|{written}".encode()

    def _last(self) -> bytes:
        """Behind which nothing counts."""
        ends = (
            b"",
            frame(struct.pack(">H", 1000), opcode=8) + frame(b"U,1,1,a|b\r\n"),
            frame(b"U,1,1,a|b\r\n", opcode=2),
            b"\xc1\x05abcde",
            struct.pack(">BBQ", 0x81, 127, 1 << 40),
            frame(b"more", opcode=0),
        )
        return self._random.choice(ends)


def pieces_of(seed: int, place: int) -> list[bytes]:
    drawn = random.Random(f"cuts {seed} {place}")
    stream = b"".join(Stream(seed, place).frames())
    count = drawn.choice((1, 3, 20))
    bounds = sorted(drawn.randrange(len(stream) + 1) for _ in range(count))
    # Heads are cut too: they are near the beginning of what there is.
    bounds = sorted([*bounds, *(min(len(stream), at) for at in range(drawn.randrange(12)))])
    return [stream[begin:end] for begin, end in zip([0, *bounds], [*bounds, len(stream)], strict=True)]


def played(loop: str, seed: int) -> tuple[Noted, list[int], dict[int, str], int]:
    """Every client's stream, piece by piece, until all have ended."""
    noted, measured = Noted(), frozenset(range(0, PLACES, 2))
    streams = {place: pieces_of(seed, place) for place in range(PLACES)}
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, loop, options(PLACES, measured), noted)
        try:
            gateway.accept(PLACES)
            swarm.connect(DEADLINE_S, lambda: True)
            gateway.accepted()
            for turn in range(max(map(len, streams.values()))):
                for place, pieces in streams.items():
                    if turn < len(pieces):
                        _send(gateway, swarm, place, pieces[turn])
                swarm.serve(0.002)
            for client in gateway.clients.values():
                with suppress(OSError):
                    client.shutdown(socket.SHUT_WR)
            until = time.monotonic() + DEADLINE_S
            while len(swarm.gone) < PLACES and time.monotonic() < until:
                swarm.serve(0.01)
            return noted, list(swarm.counts), swarm.gone, swarm.overflown
        finally:
            swarm.close()


def _send(gateway: PlayedGateway, swarm: PushSwarm, place: int, piece: bytes) -> None:
    """Who reads is this thread, too: where a socket takes no more, it is read before it gets the rest."""
    rest, until = memoryview(piece), time.monotonic() + DEADLINE_S
    # It may have been cut off, as it deserves.
    with suppress(ConnectionError):
        while rest:
            assert time.monotonic() < until, "nobody reads"
            try:
                rest = rest[gateway.clients[place].send(rest) :]
            except BlockingIOError:
                swarm.serve(0.002)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_loops_make_the_same_of_the_same_bytes(seed: int) -> None:
    ours, counts, gone, overflown = played("native", seed)
    theirs, their_counts, their_gone, their_overflown = played("python", seed)
    assert len(gone) == len(their_gone) == PLACES
    assert counts == their_counts
    assert ours.updates == theirs.updates
    assert overflown == their_overflown
    assert sum(counts) > PLACES
    assert ours.by_rows > 0, "nothing was read without Python"
    assert sum(map(len, ours.updates.values())) > ours.by_rows, "nothing was handed back"


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def gone_of(loop: str, *said: bytes, measured: bool = False, most_bytes: int | None = None) -> str:
    """Why one client was cut off, that was sent this and nothing else."""
    noted = Noted()
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, loop, options(1, frozenset({0} if measured else ())), noted)
        try:
            gateway.accept(1)
            swarm.connect(DEADLINE_S, lambda: True)
            gateway.accepted()
            until = time.monotonic() + DEADLINE_S
            pieces = iter(said)
            sent = 0
            while 0 not in swarm.gone and time.monotonic() < until:
                piece = next(pieces, b"")
                sent += len(piece)
                assert most_bytes is None or sent <= most_bytes, "it takes all that it is sent"
                _send(gateway, swarm, 0, piece)
                swarm.serve(0.002)
            return swarm.gone[0]
        finally:
            swarm.close()


def test_a_frame_without_measure_is_refused_by_its_head(loop: str) -> None:
    assert gone_of(loop, struct.pack(">BBQ", 0x81, 127, 1 << 62), measured=True)


def test_a_message_without_end_is_cut_off(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PushSwarm, "most_message_bytes", 200_000)
    endless = [frame(b"U,1,1,", fin=False), *[frame(b"x" * 10_000, opcode=0, fin=False)] * 60]
    assert "longer than any" in gone_of(loop, *endless, measured=True, most_bytes=400_000)


def test_of_an_endless_line_that_is_no_update_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[bytes]()
    monkeypatch.setattr(PushSwarm, "told", lambda self, place, line: told.append(line))
    noted = Noted()
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, "native", options(1, frozenset()), noted)
        try:
            gateway.accept(1)
            join = swarm.events.create_task(swarm.join(0))
            swarm.events.run_until_complete(join)
            gateway.accepted()
            _send(gateway, swarm, 0, struct.pack(">BBQ", 0x81, 127, 2_000_000) + b"x" * 2_000_000)
            until = time.monotonic() + DEADLINE_S
            while not any(line[:1] == b"x" for line in told) and time.monotonic() < until:
                swarm.serve(0.01)
            assert [len(line) for line in told if line.startswith(b"x")] == [1024]
        finally:
            swarm.close()


def test_a_head_without_end_is_given_up(loop: str) -> None:
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, loop, options(1, frozenset()), Noted())
        try:
            gateway.accept(1, answer=b"HTTP/1.1 101 Switching Protocols\r\n" + b"X-Filler: y\r\n" * 100_000)
            with pytest.raises(Unreachable, match="no session could be opened"):
                swarm.connect(DEADLINE_S, lambda: True)
        finally:
            swarm.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: bm90IHRoZSBvbmU=\r\n\r\n",
    ],
)
def test_what_is_no_websocket_is_refused(loop: str, answer: bytes) -> None:
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, loop, options(1, frozenset()), Noted())
        try:
            gateway.accept(1, answer=answer)
            with pytest.raises(Unreachable, match="no session could be opened"):
                swarm.connect(DEADLINE_S, lambda: True)
        finally:
            swarm.close()


def test_many_that_are_answered_at_once_are_heard_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop stops for Python after 256 lines, and is told of a session only once."""
    sessions, subscribed = 300, set[int]()

    def told(swarm: PushSwarm, place: int, line: bytes) -> None:
        if line.startswith(b"SUBOK"):
            subscribed.add(place)

    monkeypatch.setattr(PushSwarm, "told", told)
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, "native", options(sessions, frozenset()), Noted())

        async def all_subscribed() -> None:
            while len(subscribed) < sessions:
                await asyncio.sleep(0.01)

        try:
            gateway.accept(sessions, said=b"")
            for place in range(sessions):
                swarm.events.run_until_complete(swarm.join(place))
            gateway.accepted()
            for client in gateway.clients.values():
                client.sendall(JOINED)
            swarm.events.run_until_complete(asyncio.wait_for(all_subscribed(), DEADLINE_S))
        finally:
            swarm.close()


def test_what_comes_with_the_answer_is_not_lost() -> None:
    """All in one piece: the head of the answer, and more frames than were asked for."""
    noted = Noted()
    update = frame(f"U,1,1,k|{stamp_text(START_NS)}\r\n".encode())
    with played_gateway() as gateway:
        swarm = swarm_at(gateway, "native", options(1, frozenset({0})), noted)
        try:
            gateway.accept(1, said=JOINED + update * 3)
            swarm.connect(DEADLINE_S, lambda: True)
            until = time.monotonic() + DEADLINE_S
            while swarm.counts[0] < 3 and time.monotonic() < until:
                swarm.serve(0.01)
            assert noted.updates == {0: [START_NS] * 3}
        finally:
            swarm.close()
