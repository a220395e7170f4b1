"""What transport-bench published, beside which ours are shown.

Its latencies are kept in a hash set, so its percentiles are over distinct values, and a step of 100K messages
at 100K a second lasts one second: they say what its authors saw, not what the transports can do.
"""

from __future__ import annotations

HARDWARE = (
    "Published by transport-bench: Intel Core i7-4770, 8 logical cores, 16 GB, SSD with btrfs, Ubuntu 18.04, "
    "Java 11, Kafka 2.8.0 with ZooKeeper; percentiles over distinct values only, 100K messages per step."
)
PERCENTILES = ("p25", "p50", "p90", "p99", "p99_9")

_KAFKA = {
    1_000: (2.2, 4.6, 13.7, 31.2, 41.5),
    5_000: (3.3, 6.6, 26.9, 46.7, 51.6),
    10_000: (3.8, 7.6, 22.5, 30.3, 33.2),
    25_000: (247.2, 598.2, 1428.0, 1459.0, 1461.0),
    50_000: (1870.0, 2594.0, 43945.0, 43983.0, 43988.0),
    100_000: (3640.0, 4326.0, 39069.0, 39484.0, 39535.0),
}
_AERON = {
    1_000: (0.9, 2.0, 4.5, 8.0, 18.7),
    5_000: (0.2, 1.0, 3.1, 4.4, 6.0),
    10_000: (0.4, 0.7, 4.4, 8.3, 12.1),
    25_000: (1.0, 2.1, 5.2, 7.9, 9.9),
    50_000: (1.7, 3.4, 8.7, 16.2, 17.9),
    100_000: (1.1, 2.4, 5.8, 9.0, 9.9),
}
_TABLES = {"kafka": _KAFKA, "aeron": _AERON}


def published_ms(transport: str, rate_per_s: float) -> dict[str, float] | None:
    """Percentiles of a transport (Aeron: by whichever way) at a rate; None: there are none."""
    found = _TABLES.get(transport.partition("-")[0], {}).get(round(rate_per_s))
    return None if found is None else dict(zip(PERCENTILES, found, strict=True))
