"""A connection to Redis for whole batches: many commands in one write, many answers in one read.

redis-py packs and unpacks one command at a time, in Python; that would be what a fast loop measures. The
answers are parsed by hiredis, the parser that redis-py itself uses.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import hiredis

from streamgauge.core.errors import CaseFailed, Unreachable
from streamgauge.drivers.server_address import ServerAddress

_CONNECT_S = 10.0
_READ_BYTES = 1 << 18
_NOT_YET = object()


class Wire:
    """One thread may write while another reads."""

    def __init__(self, address: ServerAddress, who: str) -> None:
        self._address, self._who = address, who
        self._reader = hiredis.Reader(notEnoughData=_NOT_YET)
        self._unsent = b""
        self._writing = threading.Lock()
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout=_CONNECT_S)
        except OSError as error:
            raise Unreachable(f"Redis at {address}: {error}") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        address = self._address
        if address.password is not None:
            self._ask("AUTH", *filter(None, (address.username, address.password)))
        if address.path:
            self._ask("SELECT", address.path)
        self._ask("PING")

    def _ask(self, *words: str) -> None:
        self.write(packed(words))
        answers = self.read(_CONNECT_S)
        if not answers:
            raise Unreachable(f"Redis at {self._address}: no answer within {_CONNECT_S:g} s")
        if isinstance(answers[0], hiredis.ReplyError):
            raise Unreachable(f"Redis at {self._address}: {words[0]}: {answers[0]}")

    def write(self, data: bytes) -> None:
        """As much as goes now; the rest goes with the next call of `write` or `flush`."""
        with self._writing:
            self._unsent = self._unsent + data if self._unsent else data
            self._send()

    def flush(self) -> bool:
        """Has everything gone?"""
        if self._unsent:
            with self._writing:
                self._send()
        return not self._unsent

    def _send(self) -> None:
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return
            except OSError as error:
                raise self._gone(error) from None
            self._unsent = self._unsent[sent:]

    def read(self, timeout_s: float) -> list[Any]:
        """All answers that are there; wait for the first as long as `timeout_s`."""
        until = time.monotonic() + timeout_s
        while True:
            self.flush()
            writing = [self._socket] if self._unsent else []
            left_s = max(0.0, until - time.monotonic())
            readable, writable, _ = select.select([self._socket], writing, [], left_s)
            if readable and (answers := self._parsed()):
                return answers
            if not readable and not writable:
                return []

    def _parsed(self) -> list[Any]:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise self._gone(error) from None
        if not data:
            raise self._gone("it closed the connection")
        self._reader.feed(data)
        answers, next_answer = [], self._reader.gets
        try:
            while (answer := next_answer()) is not _NOT_YET:
                answers.append(answer)
        except hiredis.HiredisError as error:
            raise self._gone(error) from None
        return answers

    def _gone(self, why: object) -> CaseFailed:
        return CaseFailed(f"{self._who}: Redis at {self._address} is gone: {why}")

    def close(self) -> None:
        with suppress(OSError):
            self._socket.close()


def packed(words: Sequence[str | bytes | int]) -> bytes:
    # Its stub speaks of one word; it takes any number.
    return bytes(hiredis.pack_command(tuple(words)))  # type: ignore[arg-type]
