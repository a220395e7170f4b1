from __future__ import annotations

from typing import Any

from streamgauge.families.fanout.seconds import point_seconds


def latency(second: int) -> dict[str, Any]:
    return {
        "case": "001",
        "second": second,
        "is_warm_up": second == 0,
        "samples": 4,
        "p50_ms": 1.0,
        "p99_ms": 2.0,
        "max_ms": 3.0,
    }


def used(source: str, at_s: float, cpu_cores: float, case: str = "001") -> dict[str, Any]:
    kind = source.partition("-")[0]
    return {
        "case": case,
        "source": source,
        "kind": kind,
        "at_s": at_s,
        "cpu_cores": cpu_cores,
        "rss_bytes": 10,
    }


def test_a_role_is_all_its_processes_and_a_second_the_mean_of_its_intervals() -> None:
    rows = [
        used("gateway-1", 0.9, 0.5),
        used("gateway-2", 0.3, 0.25),
        used("gateway-1", 1.1, 0.2),
        used("gateway-1", 1.9, 0.4),
        used("gateway-2", 1.3, 0.1),
        used("gateway-1", 2.9, 0.7),  # the other one was not seen in this second
        used("broker-1", 1.5, 9.0, case="002"),
        used("machine", 2.5, 1.5),
    ]
    first, second, third = point_seconds([latency(0), latency(1), latency(2)], rows)
    assert first["gateway_cpu_cores"] == 0.75
    assert first["gateway_memory_bytes"] == 20
    assert abs(second["gateway_cpu_cores"] - 0.4) < 1e-9
    assert third["gateway_cpu_cores"] is None, "the use of one would be taken for that of both"
    assert third["machine_cpu_cores"] == 1.5
    assert second["broker_cpu_cores"] is None
    assert (first["is_warm_up"], second["p99_ms"]) == (True, 2.0)
