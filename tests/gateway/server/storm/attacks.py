"""Attacks on a gateway. Each is what one visitor does on one connection; how many visitors there are, and how
long each waits before it comes again, bounds it."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from itertools import count

from ..client_frames import BINARY, CLOSE, CONTINUATION, PING, TEXT
from .peer import Peer
from .programs import ADAPTER_SET, FAT, TICKS
from .wire_bytes import CREATE, UPGRADE, frame, post, subscribe

_names = count()


class Attack(ABC):
    name: str
    visitors = 4
    pause_s = 0.2

    @abstractmethod
    async def visit(self, peer: Peer) -> None: ...


class EmptyFragments(Attack):
    """A message of 40,000 parts, all empty: little to send, and each to be kept."""

    name = "empty fragments"

    async def visit(self, peer: Peer) -> None:
        await peer.upgrade()
        await peer.send(frame(b"", TEXT, fin=False))
        for _ in range(40):
            await peer.send(frame(b"", CONTINUATION, fin=False) * 1000)
        await peer.until_gone()


class PingsUnread(Attack):
    """Pings whose pongs are never read: 20 MB of them."""

    name = "pings unread"

    async def visit(self, peer: Peer) -> None:
        await peer.upgrade()
        for _ in range(200):
            await peer.send(frame(b"p" * 125, PING) * 800)
            await asyncio.sleep(0.01)
        await peer.until_gone()


class SessionsLeftForLong(Attack):
    """Sessions whose client says that it comes back in a year."""

    name = "sessions left for long"

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        await peer.send(
            frame(
                "control\r\nLS_reqId=1&LS_op=force_rebind&LS_polling_millis=31536000000&LS_close_socket=true"
            )
        )
        await peer.until_gone()


class ManySequences(Attack):
    """Messages that nobody takes, each of a sequence of its own, to be remembered."""

    name = "many sequences"

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        for _ in range(100):
            lines = [
                f"LS_reqId={n}&LS_message=m&LS_sequence={'s' * 100}{next(_names)}&LS_msg_prog=1&LS_ack=false"
                for n in range(200)
            ]
            await peer.send(frame("msg\r\n" + "\r\n".join(lines)))
            await peer.read()


class ManyFields(Attack):
    """The same field thousands of times: a short record becomes a long one."""

    name = "many fields"

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        await peer.send(frame(subscribe(FAT, " ".join(["filler"] * 4000))))
        await peer.until_gone()


class ManyItems(Attack):
    """Requests for 1,000 items each, taken back and made again."""

    name = "many items"

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        for sub in range(1, 61):
            items = " ".join(f"i{next(_names)}" for _ in range(1000))
            await peer.send(frame(subscribe(items, "number", sub=sub)))
            if sub % 20 == 0:
                gone = "\r\n".join(
                    f"LS_reqId={n}&LS_op=delete&LS_subId={n}" for n in range(sub - 19, sub + 1)
                )
                await peer.send(frame(f"control\r\n{gone}"))
        await peer.until_gone()


class SlowReader(Attack):
    """Follows what is too much, unfiltered, and does not read it. (The kernel ends it: TCP_USER_TIMEOUT.)"""

    name = "slow readers"
    visitors = 20

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        await peer.send(frame(subscribe(FAT, "number filler", more="&LS_requested_max_frequency=unfiltered")))
        await asyncio.sleep(60)


class HalfOpen(Attack):
    """Begins to ask for something, a byte at a time, and never comes to an end."""

    name = "half-open handshakes"
    visitors = 200

    async def visit(self, peer: Peer) -> None:
        for byte in UPGRADE[:-4]:
            await peer.send(bytes([byte]))
            await asyncio.sleep(random.uniform(0.2, 0.6))


class SilentConnections(Attack):
    """Come, and say nothing."""

    name = "silent connections"
    visitors = 200

    async def visit(self, peer: Peer) -> None:
        await peer.until_gone()


class BadPasswords(Attack):
    """Of a user that there is, and of one that there is not."""

    name = "bad passwords"
    pause_s = 0.1

    async def visit(self, peer: Peer) -> None:
        for user in ("honest", "nobody"):
            body = (
                f"LS_adapter_set={ADAPTER_SET}&LS_user={user}&LS_password=wrong{next(_names)}&LS_polling=true"
            )
            await peer.send(post("create_session", body))
            await peer.read()


class Reconnects(Attack):
    """Opens a session, follows the ticks, breaks off; nothing is ever ended."""

    name = "reconnects"
    visitors = 5
    pause_s = 0.05

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        await peer.send(frame(subscribe(TICKS, "number due_ns")))
        await peer.read()


class Oversized(Attack):
    """Heads, bodies and frames that are longer than anything allowed, or say that they are."""

    name = "oversized requests"

    async def visit(self, peer: Peer) -> None:
        which = next(_names) % 4
        if which == 0:
            await peer.send(b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000)
        elif which == 1:
            await peer.send(b"POST /lightstreamer/control.txt HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n")
            await peer.send(b"x" * 1_000_000)
        elif which == 2:
            await peer.upgrade()
            await peer.send(b"\x81\xff" + b"\x3f" + b"\xff" * 7 + b"\0\0\0\0" + b"x" * 1_000_000)
        else:
            await peer.upgrade()
            await peer.send(frame(b"x" * 40_000, TEXT, fin=False))
            for _ in range(100):
                await peer.send(frame(b"x" * 40_000, CONTINUATION, fin=False))
        await peer.until_gone()


class BrokenFrames(Attack):
    """What no client of the protocol may send."""

    name = "broken frames"
    pause_s = 0.1

    async def visit(self, peer: Peer) -> None:
        await peer.upgrade()
        await peer.send(
            random.choice(
                [
                    frame("wsok", reserved=random.randint(1, 7)),
                    frame("wsok", random.choice([3, 4, 5, 6, 7, 11, 12, 13, 14, 15])),
                    frame(b"\xff\xfe\xfd"),
                    frame(b"\xce\xba\xe1", TEXT, fin=False) + frame(b"\xff", CONTINUATION),
                    frame(b"wsok", BINARY),
                    b"\x81\x04wsok",
                    frame(b"p" * 126, PING),
                    frame(b"", PING, fin=False),
                    frame(b"\x03", CLOSE),
                    frame(b"\x00\x00", CLOSE),
                    frame(b"x", CONTINUATION),
                ]
            )
        )
        await peer.until_gone()


class UnreadAnswers(Attack):
    """Asks for answers, thousands in a row, and reads none."""

    name = "unread answers"

    async def visit(self, peer: Peer) -> None:
        for _ in range(50):
            await peer.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            await peer.send(b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        await asyncio.sleep(60)


class RefusedRequests(Attack):
    """As many requests as fit a message, all nonsense, one message after another."""

    name = "refused requests"

    async def visit(self, peer: Peer) -> None:
        await peer.open_session()
        lines = "\r\n".join(f"LS_reqId={n}&LS_op=delete&LS_subId=7" for n in range(1000))
        for _ in range(20):
            await peer.send(frame(f"control\r\n{lines}"))
            await peer.read()


class SilentSessions(Attack):
    """Polls that wait, without anybody reading, on sessions that are followed by another at once."""

    name = "silent sessions"

    async def visit(self, peer: Peer) -> None:
        await peer.send(post("create_session", f"{CREATE}&LS_polling=true&LS_polling_millis=99999999999"))
        await peer.read()


ATTACKS: list[Attack] = [
    EmptyFragments(),
    PingsUnread(),
    SessionsLeftForLong(),
    ManySequences(),
    ManyFields(),
    ManyItems(),
    SlowReader(),
    HalfOpen(),
    SilentConnections(),
    BadPasswords(),
    Reconnects(),
    Oversized(),
    BrokenFrames(),
    UnreadAnswers(),
    RefusedRequests(),
    SilentSessions(),
]
