from __future__ import annotations

import pytest

from streamgauge.sizing.loads import MessageLoad
from streamgauge.sizing.message_plan import needed, plan_messages
from streamgauge.sizing.planning import Host, Part, SizePlan
from tests.sizing.made_up import made_up_costs

COSTS = made_up_costs()


def plan(
    rate: float, size: int = 1000, *, acks: str = "all", host: Host | None = None, replicas: int = 1
) -> SizePlan:
    wanted = MessageLoad(rate_per_s=rate, size_bytes=size, replicas=replicas)
    return plan_messages(wanted, acks, COSTS, host or Host())


def part(found: SizePlan, role: str) -> Part:
    return next(part for part in found.parts if part.role == role)


def test_a_load_that_was_measured_takes_what_it_took() -> None:
    load = COSTS.messages[4].load
    for quantity, took in COSTS.messages[4].took.items():
        assert needed(load, COSTS, quantity).value == pytest.approx(took)


def test_a_small_load_takes_one_process_of_each_role_on_a_host_of_its_own() -> None:
    found = plan(1000, 100)
    assert [(part.role, part.processes, part.hosts) for part in found.parts] == [
        ("producer", 1, 1),
        ("consumer", 1, 1),
        ("broker", 1, 1),
    ]
    assert found.hosts == 3


def test_no_agent_does_more_than_it_should_and_no_host_is_full() -> None:
    host = Host(cores=8, network_bits_per_s=1e12)
    found = plan(5e6, host=host)
    for role in ("producer", "consumer"):
        own = part(found, role)
        assert own.processes > 1
        assert own.cores.value / own.processes <= host.fill
    for own in found.parts:
        assert own.cores.value <= own.hosts * host.cores * host.fill
        assert own.memory_bytes.value <= own.hosts * host.memory_bytes * host.fill


def test_what_the_network_cannot_carry_needs_more_hosts() -> None:
    wide, narrow = (plan(1e6, host=Host(network_bits_per_s=bits)) for bits in (1e12, 1e9))
    assert narrow.hosts > wide.hosts
    for own in narrow.parts:
        assert max(own.sent_bits_per_s.value, own.received_bits_per_s.value) <= own.hosts * 1e9 * 0.7


def test_what_is_sent_is_received() -> None:
    found = plan(1e5, replicas=3)
    sent, received = (
        sum(getattr(part, name).value for part in found.parts)
        for name in ("sent_bits_per_s", "received_bits_per_s")
    )
    assert sent == pytest.approx(received)
    assert found.network_bits_per_s.value == pytest.approx(sent)
    assert part(found, "broker").processes >= 3


def test_twice_the_load_takes_about_twice_as_much() -> None:
    once, twice = (plan(rate).cores.value for rate in (5e6, 10e6))
    assert 1.9 < twice / once < 2.3


@pytest.mark.parametrize(
    ("acks", "replicas", "words"),
    [("0", 1, "an upper end"), ("all", 3, "a further replica was taken to cost")],
)
def test_what_was_not_measured_is_said(acks: str, replicas: int, words: str) -> None:
    found = plan(1000, acks=acks, replicas=replicas)
    assert any(words in note for note in found.notes)
    assert found.wanted.startswith("1k/s of 1000 B, acks ")
