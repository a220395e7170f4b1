"""Every case against a running gateway, by a socket of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from .autobahn_cases import ANSWER, LIMIT_BYTES, Case, all_cases, pong
from .client_frames import CLOSE, PONG, TEXT
from .raw_client import Closed, WebSocket
from .running import Running, running


@pytest.fixture(scope="module")
def gateway() -> Iterator[Running]:
    with running({"limits": {"request_bytes": LIMIT_BYTES}}) as server:
        yield server


def outcome(client: WebSocket) -> tuple[list[str], int | None]:
    """What the server says until it closes, and the code that it closes with. After that it says nothing."""
    answers: list[str] = []
    while True:
        opcode, payload = client.frame()
        if opcode == CLOSE:
            with pytest.raises(Closed):
                client.frame()
            return answers, struct.unpack(">H", payload[:2])[0] if payload else None
        if opcode == PONG:
            answers.append(pong(payload))
        else:
            assert opcode == TEXT
            assert payload.startswith(b"ERROR,67,unknown request")
            answers.append(ANSWER)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.number)
def test_case(gateway: Running, case: Case) -> None:
    with WebSocket(gateway) as client:
        try:
            for piece in case.sent:
                client.socket.sendall(piece)
        except OSError:
            pass  # Refused before all was sent.
        assert outcome(client) == (list(case.answers), case.code)


def test_no_case_is_left_out() -> None:
    numbers = [case.number for case in all_cases()]
    assert len(set(numbers)) == len(numbers)
    of_group = {group: sum(each.startswith(f"{group}.") for each in numbers) for group in range(1, 11)}
    assert of_group == {1: 16, 2: 11, 3: 7, 4: 10, 5: 20, 6: 145, 7: 37, 8: 0, 9: 0, 10: 1}
