from __future__ import annotations

import random
import socket

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.systems.ports import HOST, free_ports


def test_ports_are_different_and_taken_ones_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(set(free_ports(10))) == 10
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        free = free_ports(1)[0]
        order = [taken.getsockname()[1], free]
        monkeypatch.setattr(random, "sample", lambda population, k: order)
        assert free_ports(1) == [free]
        with pytest.raises(BadInput, match="no 2 free ports"):
            free_ports(2)
