from __future__ import annotations

from streamgauge.families.transports.published import published_ms


def test_the_published_figures_of_both_tables() -> None:
    assert published_ms("kafka", 10_000.0) == {
        "p25": 3.8,
        "p50": 7.6,
        "p90": 22.5,
        "p99": 30.3,
        "p99_9": 33.2,
    }
    aeron = published_ms("aeron-ipc", 1000.0)
    assert aeron is not None
    assert aeron == published_ms("aeron-udp", 1000.0)
    assert aeron["p99_9"] == 18.7


def test_where_nothing_was_published_there_is_nothing() -> None:
    assert published_ms("kafka", 2000.0) is None
    assert published_ms("nats", 1000.0) is None
