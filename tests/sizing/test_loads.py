from __future__ import annotations

import pytest

from streamgauge.sizing.loads import MESSAGE_QUANTITIES, ClientLoad, MessageLoad


@pytest.mark.parametrize(
    ("rate", "size", "producers", "batches"),
    [
        (100, 100, 1, 100),  # slower than a producer waits: each message goes by itself
        (8000, 100, 1, 800),  # four partitions, a batch each in 5 ms
        (8000, 100, 2, 1600),  # every producer gathers by itself
        (4_000_000, 1000, 1, 4000),  # full batches, of a million bytes
        (10_000_000, 10, 1, 1000),  # … or of ten thousand messages
    ],
)
def test_messages_go_in_as_many_batches_as_producers_make_of_them(
    rate: float, size: int, producers: int, batches: float
) -> None:
    load = MessageLoad(rate_per_s=rate, size_bytes=size, producers=producers)
    assert load.batches_per_s == pytest.approx(batches)


def test_work_grows_with_replicas_and_reading() -> None:
    once = MessageLoad(rate_per_s=1000, size_bytes=100)
    thrice = once.model_copy(update={"replicas": 3, "brokers": 3})
    assert (once.hops, thrice.hops) == (2, 4)
    assert thrice.causes("broker_cores") == tuple(3 * cause for cause in once.causes("broker_cores"))
    assert thrice.causes("producer_cores") == once.causes("producer_cores")
    unread = once.model_copy(update={"consumers": 0})
    assert unread.hops == 1
    assert not any(unread.causes("consumer_cores"))


def test_who_has_much_to_send_wakes_up_less_often_a_message() -> None:
    wakes = [MessageLoad(rate_per_s=rate, size_bytes=1).wakes_per_s / rate for rate in (100, 10_000, 1e6)]
    assert wakes == sorted(wakes, reverse=True)
    assert wakes[0] > 0.99
    assert MessageLoad(rate_per_s=1e6, size_bytes=1).wakes_per_s < 20_000


def test_memory_is_kept_that_was_needed_before() -> None:
    load = MessageLoad(rate_per_s=1000, size_bytes=100)
    later = load.model_copy(
        update={"peak_rate_per_s": 5000.0, "peak_size_bytes": 900, "peak_bytes_per_s": 7e6}
    )
    assert load.causes("producer_memory_bytes") == (1.0, 1000.0, 100.0)
    assert later.causes("producer_memory_bytes") == (1.0, 5000.0, 900.0)
    assert later.causes("broker_memory_bytes") == (1.0, 7e6)


def test_swarms_keep_what_they_took_for_other_clients_before() -> None:
    fresh = ClientLoad(clients=10, scenario="1", swarms=2)
    later = fresh.model_copy(update={"peak_clients": 500})
    assert fresh.causes("swarm_memory_bytes") == (2.0, 10.0, 0.0)
    assert later.causes("swarm_memory_bytes") == (2.0, 500.0, 2.0)
    assert later.causes("gateway_memory_bytes") == fresh.causes("gateway_memory_bytes") == (1.0, 10.0)


def test_every_quantity_has_causes() -> None:
    load = MessageLoad(rate_per_s=1000, size_bytes=100)
    assert all(any(load.causes(name)) for name in MESSAGE_QUANTITIES)
    assert ClientLoad(clients=10, scenario="1", gateways=2).causes("gateway_cores") == (2.0, 10.0)
    assert ClientLoad(clients=10, scenario="1", gateways=2).causes("network_bytes_per_s") == (0.0, 10.0)
