from __future__ import annotations

import resource

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.kafka.confluent.swarm import KafkaSwarm
from streamgauge.drivers.push.swarm import source_address
from streamgauge.drivers.swarm import SwarmOptions, allow_open_files


def test_more_files_than_allowed_are_refused_with_a_remedy() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with pytest.raises(BadInput, match=r"open files.*--clients-per-process.*ulimit -Hn"):
        allow_open_files(hard)


def test_the_soft_limit_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowered = min(1000, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowered, hard))
    try:
        allow_open_files(lowered + 500)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= lowered + 500
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_source_addresses_are_spread() -> None:
    assert [source_address(n) for n in (0, 9_999, 10_000, 90_000)] == [
        "127.0.1.1",
        "127.0.1.1",
        "127.0.1.2",
        "127.0.1.10",
    ]
    assert source_address(10_000 * 255).startswith("127.0.2.")


def test_more_kafka_consumers_than_a_process_can_have_are_refused() -> None:
    options = SwarmOptions(
        first=0,
        keys=(0,) * 1001,
        key_names=(),
        measured=frozenset(),
        topic="t",
        start={(0, 0): 0},
        kind="base",
        group=None,
        parse_json=False,
        item="ltest",
        fields=("value",),
        max_frequency="unfiltered",
        ramp_up_per_s=1000.0,
    )
    with pytest.raises(BadInput, match=r"thread-local key.*--clients-per-process 1000"):
        KafkaSwarm(options, lambda *_: None, {})
