from __future__ import annotations

from streamgauge.report.document import State
from streamgauge.report.origin_show import origin_of

from .plotted import document_of


def test_who_where_when_how_long_and_against_what() -> None:
    document = document_of("20260102-030405-e2e-ab12", [])
    document.stages_s = {"starting_spark": 4.0, "measuring": 30.0}
    document.environment = {
        "user": "ann",
        "hostname": "bench-1",
        "cpu": "EPYC",
        "cores": 2,
        "memory_bytes": 2**34,
        "memory_peaks_bytes": {
            "launcher": 2**28,
            "producer-0": 2**27,
            "consumer-0": 2**26,
            "analysing": 2**30,
        },
        "systems": {"kafka": {"bootstrap": "10.0.0.1:9092", "kafka": "4.3.1"}, "zmq": {}, "odd": 1},
    }
    assert origin_of(document) == [
        ("by", "ann on bench-1"),
        ("machine", "EPYC, 2 cores, 16.0 GiB"),
        ("when", "2026-01-02 03:04 UTC"),
        ("took", "34.00 s, measuring 30.00 s"),
        (
            "memory",
            "at most launcher 256.0 MiB, with Spark while analysing 1.0 GiB, largest of 2 agents 128.0 MiB",
        ),
        ("against", "kafka 4.3.1 at 10.0.0.1:9092, zmq"),
    ]


def test_what_is_not_known_is_left_out() -> None:
    document = document_of("mine", [])
    document.stages_s, document.environment, document.status = {}, {}, State.OK
    assert origin_of(document) == []
