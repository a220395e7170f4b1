"""The cases of the Autobahn test suite by number: what a client sends, and what must come of it.

The suite itself (`autobahntestsuite` 25.10.1) runs under Python 2.7 only. It expects a server that echoes;
the gateway takes text messages of its protocol. So what would be echoed is answered here with a line of the
protocol ("ANSWER"), and binary messages, which are echoed there, end the connection with 1003.

Not here: 9.* measure how fast large messages are echoed, and a request has a limit (7.1.6 is about that);
12.* and 13.* are about compression, an extension that the gateway does not offer, so that the reserved bit
that it needs is refused (3.*). 8.* and 11.* are not in the suite.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from . import client_frames
from .client_frames import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT

ANSWER = "ANSWER"
LIMIT_BYTES = 70_000
"""Of a message, in the gateway that the cases are tried on."""
_MASK = bytes.fromhex("37fa213d")
_SOME = b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff"
_HELLO = b"Hello, world!"
_GREEK = bytes.fromhex("cebae1bdb9cf83cebcceb5")


@dataclass(frozen=True)
class Case:
    number: str
    sent: tuple[bytes, ...]
    """As it is handed to the socket, piece by piece."""
    answers: tuple[str, ...]
    """`ANSWER`, or "PONG " with its payload in hexadecimal."""
    code: int | None
    """With which the server closes; where all is well the client has closed with it first."""


def frame(
    payload: bytes = b"", opcode: int = TEXT, *, fin: bool = True, rsv: int = 0, size: int | None = None
) -> bytes:
    return client_frames.frame(payload, opcode, fin=fin, rsv=rsv, mask=_MASK, size=size)


def pong(payload: bytes) -> str:
    return f"PONG {payload.hex()}"


def close(code: int | None = 1000, reason: bytes = b"") -> bytes:
    return frame((b"" if code is None else struct.pack(">H", code)) + reason, CLOSE)


def _good(number: str, *sent: bytes, answers: Iterable[str] = (ANSWER,)) -> Case:
    """All is well, and the client closes."""
    return Case(number, (*sent, close()), tuple(answers), 1000)


def _bad(number: str, *sent: bytes, answers: Iterable[str] = (), code: int = 1002) -> Case:
    return Case(number, sent, tuple(answers), code)


def _chopped(case: Case, size: int = 1) -> Case:
    """The same bytes, so many at a time."""
    data = b"".join(case.sent)
    return replace(case, sent=tuple(data[at : at + size] for at in range(0, len(data), size)))


def _at_once(case: Case) -> Case:
    return replace(case, sent=(b"".join(case.sent),))


def _fragments(payload: bytes, size: int) -> bytes:
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)]
    last = len(pieces) - 1
    return b"".join(
        frame(piece, CONTINUATION if at else TEXT, fin=at == last) for at, piece in enumerate(pieces)
    )


def framing() -> Iterator[Case]:
    sizes = (0, 125, 126, 127, 128, 65_535, 65_536)
    for at, size in enumerate(sizes, 1):
        yield _good(f"1.1.{at}", frame(b"*" * size))
        yield _bad(f"1.2.{at}", frame(b"\xfe" * size, BINARY), code=1003)
    yield _chopped(_good("1.1.8", frame(b"*" * 65_536)), 997)
    yield _chopped(_bad("1.2.8", frame(b"\xfe" * 65_536, BINARY), code=1003), 997)


def pings_and_pongs() -> Iterator[Case]:
    for number, payload in (("2.1", b""), ("2.2", _HELLO), ("2.3", _SOME), ("2.4", b"\xfe" * 125)):
        yield _good(number, frame(payload, PING), answers=[pong(payload)])
    yield _bad("2.5", frame(b"\xfe" * 126, PING))
    yield _chopped(_good("2.6", frame(b"\xfe" * 125, PING), answers=[pong(b"\xfe" * 125)]))
    yield _good("2.7", frame(b"", PONG), answers=[])
    yield _good("2.8", frame(b"unsolicited", PONG), answers=[])
    yield _good("2.9", frame(b"unsolicited", PONG), frame(b"ping", PING), answers=[pong(b"ping")])
    payloads = [b"payload-%d" % n for n in range(10)]
    many = _good("2.10", *(frame(each, PING) for each in payloads), answers=map(pong, payloads))
    yield from (many, _chopped(replace(many, number="2.11")))


def reserved() -> Iterator[Case]:
    hello = frame(_HELLO)
    yield _bad("3.1", frame(_HELLO, rsv=1))
    yield _at_once(_bad("3.2", hello, frame(_HELLO, rsv=2), frame(b"", PING), answers=[ANSWER]))
    yield _bad("3.3", hello, frame(_HELLO, rsv=3), frame(b"", PING), answers=[ANSWER])
    yield _chopped(_bad("3.4", hello, frame(_HELLO, rsv=4), frame(b"", PING), answers=[ANSWER]))
    yield _bad("3.5", frame(_SOME, BINARY, rsv=5))
    yield _bad("3.6", frame(_HELLO, PING, rsv=6))
    yield _bad("3.7", frame(b"", CLOSE, rsv=7))
    for group, opcode in (("4.1", 3), ("4.2", 11)):
        yield _bad(f"{group}.1", frame(b"", opcode))
        yield _bad(f"{group}.2", frame(b"reserved opcode payload", opcode + 1))
        yield _at_once(_bad(f"{group}.3", hello, frame(b"", opcode + 2), frame(b"", PING), answers=[ANSWER]))
        yield _bad(f"{group}.4", hello, frame(_HELLO, opcode + 3), frame(b"", PING), answers=[ANSWER])
        yield _chopped(
            _bad(f"{group}.5", hello, frame(_HELLO, opcode + 4), frame(b"", PING), answers=[ANSWER])
        )


def fragmentation() -> Iterator[Case]:
    for number, opcode in (("5.1", PING), ("5.2", PONG)):
        yield _bad(number, frame(b"one", opcode, fin=False), frame(b"two", CONTINUATION))
    begin, end = frame(b"fragment1", fin=False), frame(b"fragment2", CONTINUATION)
    two = _good("5.3", begin, end)
    yield from (two, _at_once(replace(two, number="5.4")), _chopped(replace(two, number="5.5")))
    between = _good("5.6", begin, frame(b"ping", PING), end, answers=[pong(b"ping"), ANSWER])
    yield between
    yield _at_once(replace(between, number="5.7"))
    yield _chopped(replace(between, number="5.8"))
    hello = frame(_HELLO)
    for first, fin in ((9, True), (12, False)):
        stray = _bad(f"5.{first}", frame(b"non-continuation", CONTINUATION, fin=fin), hello)
        yield _at_once(stray)
        yield replace(stray, number=f"5.{first + 1}")
        yield _chopped(replace(stray, number=f"5.{first + 2}"))
    stray_begin = frame(b"fragment3", CONTINUATION, fin=False)
    yield _at_once(_bad("5.15", begin, end, stray_begin, hello, answers=[ANSWER]))
    yield _bad("5.16", *(2 * (stray_begin, begin, end)))
    yield _bad("5.17", *(2 * (frame(b"fragment3", CONTINUATION), begin, end)))
    yield _at_once(_bad("5.18", begin, frame(b"fragment2")))
    middle = frame(b"fragment", CONTINUATION, fin=False)
    pinged = _good(
        "5.19",
        *(begin + middle + frame(b"pongme 1!", PING), middle + middle + frame(b"pongme 2!", PING), end),
        answers=[pong(b"pongme 1!"), pong(b"pongme 2!"), ANSWER],
    )
    yield from (pinged, _chopped(replace(pinged, number="5.20"), 7))
    yield _good("10.1.1", _fragments(b"*" * 65_536, 1300))


def utf8() -> Iterator[Case]:
    valid = "Hello-µ@ßöäüàá-UTF-8!!".encode()
    yield _good("6.1.1", frame(b""))
    yield _good("6.1.2", frame(b"", fin=False), frame(b"", CONTINUATION, fin=False), frame(b"", CONTINUATION))
    yield _good(
        "6.1.3",
        *(frame(b"", fin=False), frame(b"middle", CONTINUATION, fin=False), frame(b"", CONTINUATION)),
    )
    yield _good("6.2.1", frame(valid))
    yield _good("6.2.2", _fragments(valid, len("Hello-µ@ßöä".encode())))
    yield _good("6.2.3", _fragments(valid, 1))
    yield _good("6.2.4", _fragments(_GREEK, 1))
    invalid = _GREEK + b"\xed\xa0\x80" + b"edited"
    yield _bad("6.3.1", frame(invalid), code=1007)
    yield _bad("6.3.2", _fragments(invalid, 1), code=1007)
    # The rest is never sent: what cannot become UTF-8 any more is refused at once.
    late = _GREEK + b"\xf4\x90\x80\x80" + b"edited"
    yield _bad(
        "6.4.1", frame(_GREEK, fin=False), frame(b"\xf4\x90\x80\x80", CONTINUATION, fin=False), code=1007
    )
    yield _bad("6.4.2", frame(late[:12], fin=False), frame(late[12:13], CONTINUATION, fin=False), code=1007)
    whole, at = frame(late), len(frame(b""))
    yield _bad("6.4.3", whole[: at + len(_GREEK)], whole[at + len(_GREEK) : at + len(_GREEK) + 4], code=1007)
    yield _bad("6.4.4", whole[: at + 12], whole[at + 12 : at + 13], code=1007)
    for group, (is_valid, sequences) in enumerate(_SEQUENCES, 5):
        for n, sequence in enumerate(sequences, 1):
            number, fits = f"6.{group}.{n}", is_valid if isinstance(is_valid, bool) else n in is_valid
            yield _good(number, frame(sequence)) if fits else _bad(number, frame(sequence), code=1007)


def closing() -> Iterator[Case]:
    hello = frame(_HELLO)
    yield _good("7.1.1", hello)
    yield Case("7.1.2", (close() + close(),), (), 1000)
    yield Case("7.1.3", (close() + frame(b"", PING),), (), 1000)
    yield Case("7.1.4", (close() + hello,), (), 1000)
    yield Case(
        "7.1.5", (frame(b"fragment1", fin=False), close(), frame(b"fragment2", CONTINUATION)), (), 1000
    )
    yield _bad("7.1.6", frame(b"*" * 262_144) + close() + frame(b"", PING), code=1009)
    yield Case("7.3.1", (close(None),), (), None)
    yield _bad("7.3.2", frame(b"a", CLOSE))
    yield Case("7.3.3", (close(1000),), (), 1000)
    yield Case("7.3.4", (close(1000, b"Hello World!"),), (), 1000)
    yield Case("7.3.5", (close(1000, b"*" * 123),), (), 1000)
    yield _bad("7.3.6", close(1000, b"*" * 124))
    yield _bad("7.5.1", close(1000, _GREEK + b"\xed\xa0\x80edited"), code=1007)
    good = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
    for n, code in enumerate(good, 1):
        yield Case(f"7.7.{n}", (close(code),), (), code)
    for n, code in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999), 1):
        yield _bad(f"7.9.{n}", close(code))
    yield _bad("7.13.1", close(5000))
    yield _bad("7.13.2", close(65_535))


def all_cases() -> list[Case]:
    groups = (framing, pings_and_pongs, reserved, fragmentation, utf8, closing)
    return [case for group in groups for case in group()]


def _hex(text: str) -> list[bytes]:
    return [bytes.fromhex(each) for each in text.split()]


_INCOMPLETE = _hex("c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf")
_NON_CHARACTERS = [
    chr(plane << 16 | 0xFFFE | last).encode() for plane in range(17) for last in (0, 1)
]  # In UTF-8 they may be.
# 6.5 up to 6.23: whether they are valid (or which of them are), and the sequences.
_SEQUENCES: list[tuple[bool | frozenset[int], list[bytes]]] = [
    (True, [*(f"hello{each}world".encode() for each in "$¢€𤭢"), _GREEK]),
    (frozenset({2, 5, 7, 9, 11}), [_GREEK[:size] for size in range(1, 12)]),
    (True, _hex("00 c280 e0a080 f0908080")),
    (False, _hex("f888808080 fc8480808080")),
    (True, _hex("7f dfbf efbfbf f48fbfbf")),
    (False, _hex("f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf")),
    (frozenset({1, 2, 3, 4}), _hex("ed9fbf ee8080 efbfbd f48fbfbf f4908080")),
    (False, [*_hex("80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf"), bytes(range(0x80, 0xBF))]),
    (
        False,
        [
            b"".join(bytes([each, 0x20]) for each in range(*bounds))
            for bounds in ((0xC0, 0xDF), (0xE0, 0xEF), (0xF0, 0xF7), (0xF8, 0xFB), (0xFC, 0xFD))
        ],
    ),
    (False, _INCOMPLETE),
    (False, [b"".join(_INCOMPLETE)]),
    (False, _hex("fe ff fefeffff")),
    (False, _hex("c0af e080af f08080af f8808080af fc80808080af")),
    (False, _hex("c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf")),
    (False, _hex("c080 e08080 f0808080 f880808080 fc8080808080")),
    (False, _hex("eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf")),
    (
        False,
        _hex(
            "eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080"
            " edafbfedbfbf"
        ),
    ),
    (True, _NON_CHARACTERS),
    (True, _hex("efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf")),
]
