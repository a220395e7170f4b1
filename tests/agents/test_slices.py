from __future__ import annotations

import numpy as np
import pytest

from streamgauge.agents.slices import SLICE_NS, Slices
from streamgauge.drivers.contract import Producer
from streamgauge.payload.making import Outgoing

from .fakes import START_NS, FakeClock

NEVER_NS = 2**62


class PacedClient(Producer):
    """Takes so long for each message, and has so much room."""

    def __init__(self, message_ns: int, room: int = 1_000_000) -> None:
        self.clock: FakeClock = FakeClock(START_NS)
        self.message_ns, self.room = message_ns, room
        self.times_ns: list[int] = []
        """When it came to each message."""
        self.calls_ns: list[int] = []

    def send(self, batch: Outgoing, topic: int) -> int:
        taken = min(len(batch), self.room - len(self.times_ns))
        self.times_ns += [self.clock.at_ns + k * self.message_ns for k in range(taken)]
        self.clock.at_ns += taken * self.message_ns
        self.calls_ns.append(taken * self.message_ns)
        return taken

    def poll(self, timeout_s: float) -> None: ...

    def outstanding(self) -> int:
        return 0

    def close(self) -> None: ...


def batch_of(count: int, first: int = 0) -> Outgoing:
    return Outgoing(first, [b"x"] * count, None, None)


@pytest.mark.parametrize("message_ns", [100, 700, 5_000, 50_000])
def test_every_message_has_the_time_at_which_it_was_handed_over(message_ns: int) -> None:
    """One stamp for all of 1,000 made min, mean and max of their latencies the same."""
    client = PacedClient(message_ns)
    slices = Slices(client)
    stamps = np.concatenate([slices.send(batch_of(1000, 1000 * n), 0, NEVER_NS)[1] for n in range(5)])
    assert np.abs(stamps - np.array(client.times_ns)).max() <= 1
    assert len(set(stamps.tolist())) == 5000


@pytest.mark.parametrize("message_ns", [100, 700, 5_000])
def test_slices_come_to_take_as_long_as_they_may(message_ns: int) -> None:
    client = PacedClient(message_ns)
    slices = Slices(client)
    for n in range(5):
        slices.send(batch_of(1000, 1000 * n), 0, NEVER_NS)
    settled = client.calls_ns[len(client.calls_ns) // 2 :]
    assert max(settled) <= SLICE_NS * 1.01


def test_one_long_call_does_not_make_all_that_follow_tiny() -> None:
    client = PacedClient(1000)
    slices = Slices(client)
    for n in range(5):
        slices.send(batch_of(1000, 1000 * n), 0, NEVER_NS)
    client.message_ns = 1_000_000
    slices.send(batch_of(1, 5000), 0, NEVER_NS)
    client.message_ns, before = 1000, len(client.calls_ns)
    slices.send(batch_of(1000, 5001), 0, NEVER_NS)
    assert len(client.calls_ns) - before <= 14


@pytest.mark.parametrize("room", [0, 1, 7, 130, 999])
def test_a_client_that_is_full_keeps_what_it_took(room: int) -> None:
    client = PacedClient(700, room)
    taken, stamps = Slices(client).send(batch_of(1000), 0, NEVER_NS)
    assert taken == len(stamps) == room
    assert list(stamps) == pytest.approx(client.times_ns, abs=1)


def test_a_single_message_is_stamped_before_it_is_handed_over() -> None:
    taken, stamps = Slices(PacedClient(5_000)).send(batch_of(1), 0, NEVER_NS)
    assert (taken, stamps) == (1, [START_NS])


def test_no_slice_begins_when_the_time_is_up() -> None:
    client = PacedClient(1000)
    taken, stamps = Slices(client).send(batch_of(1000), 0, START_NS + 300_000)
    assert taken == len(stamps) == len(client.times_ns)
    assert 300 <= taken <= 428


def test_a_few_messages_are_one_call_and_have_the_time_before_it() -> None:
    """A ring in memory delivers them while the call lasts: 9 of 3,000 were received before they were sent."""
    client = PacedClient(700, room=6)
    slices = Slices(client)
    assert slices.send(batch_of(1), 0, NEVER_NS) == (1, [START_NS])
    assert slices.send(batch_of(4), 0, NEVER_NS) == (4, [START_NS + 700] * 4)
    assert slices.send(batch_of(2), 0, NEVER_NS) == (1, [START_NS + 5 * 700])
    assert slices.send(batch_of(1), 0, NEVER_NS) == (0, [])
    assert len(client.calls_ns) == 4
