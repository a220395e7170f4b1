import pytest

from streamgauge.analysis.resources import resources
from streamgauge.tables import events

from .recorded import SECOND, CaseEvents, rows_of


def test_use_between_two_samples(results):
    brokers = results.rows("resources", "clean", source="broker-1")
    machines = results.rows("resources", "clean", source="machine")

    assert [row["at_s"] for row in brokers] == pytest.approx([0, 1, 2, 3])
    assert [row["cpu_cores"] for row in brokers] == pytest.approx([1.0] * 4)
    assert [row["net_sent_bytes_per_s"] for row in machines] == pytest.approx([1000.0] * 4)
    assert all(row["net_sent_bytes_per_s"] is None for row in brokers)


def test_restarts_other_hosts_and_missing_sends():
    case = CaseEvents("")
    case.mark("producer", 0, "start", 0, host="far", reference_offset_ns=10 * SECOND)
    for at_s, cpu_s in ((10, 5.0), (12, 6.0), (12, 6.0), (14, 0.5), (15, 1.0)):
        case.sample("broker-1", at_s * SECOND, cpu_s, disk_written_bytes=int(cpu_s * 100))
    case.sample("broker-1", 2 * SECOND, 1.0, host="far")
    case.sample("broker-1", 3 * SECOND, 1.25, host="far")
    samples, marks = rows_of(events.SAMPLES, case.samples), rows_of(events.MARKS, case.marks).to_pylist()
    rows = resources(samples, marks, {}).sort_by([("host", "ascending"), ("at_s", "ascending")]).to_pylist()

    assert [(row["host"], row["at_s"], row["cpu_cores"]) for row in rows] == [
        ("clock-0", 2.0, 0.5),
        ("clock-0", 5.0, 0.5),
        ("far", 3.0, 0.25),
    ]
    assert [row["disk_written_bytes_per_s"] for row in rows] == [50.0, 50.0, None]
