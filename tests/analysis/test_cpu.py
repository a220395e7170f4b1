import pytest

from streamgauge.analysis.cpu import cpu
from streamgauge.tables import events
from streamgauge.tables.results import ACCOUNTING

from .recorded import SECOND, CaseEvents, rows_of


def test_cpu_of_the_measured_phase(results):
    kinds = {row["kind"]: row for row in results.rows("cpu", "clean")}

    assert set(kinds) == {"producer", "consumer", "broker"}
    assert kinds["producer"]["cpu_s"] == pytest.approx(1.5)
    assert kinds["producer"]["busiest_cores"] == pytest.approx(0.75)
    assert kinds["producer"]["cpu_us_per_message"] == pytest.approx(150_000)
    assert kinds["consumer"]["cpu_us_per_message"] == pytest.approx(150_000)
    assert kinds["broker"]["cpu_s"] == pytest.approx(2.0)
    assert kinds["broker"]["busiest_cores"] == pytest.approx(1.0)


def test_no_marks_no_rows(results):
    assert results.rows("cpu", "no_marks") == []


def processes(case):
    accounting = ACCOUNTING.arrow_schema().empty_table()
    samples, marks = rows_of(events.SAMPLES, case.samples), rows_of(events.MARKS, case.marks).to_pylist()
    return {row["kind"]: row for row in cpu(samples, marks, accounting).to_pylist()}


def test_brokers_are_interpolated_and_cut_to_their_samples():
    case = CaseEvents("")
    case.mark("producer", 0, "measure_begin", 2 * SECOND + SECOND // 2)
    case.mark("producer", 0, "measure_end", 4 * SECOND, cpu_s=1.0)
    case.mark("consumer", 0, "measure_begin", 3 * SECOND)
    case.mark("consumer", 0, "measure_end", 5 * SECOND, cpu_s=0.5)
    for at_s, cpu_s in ((2, 10.0), (3, 11.0), (4, 13.0)):
        case.sample("broker-1", at_s * SECOND, cpu_s)
        case.sample("broker-2", at_s * SECOND, cpu_s / 10)
    found = processes(case)

    assert found["broker"]["processes"] == 2
    assert found["broker"]["cpu_s"] == pytest.approx(2.5 + 0.25)
    assert found["broker"]["busiest_cores"] == pytest.approx(2.5 / 1.5)
    assert found["broker"]["cpu_us_per_message"] is None
    assert found["producer"]["busiest_cores"] == pytest.approx(1 / 1.5)
    assert found["consumer"]["busiest_cores"] == pytest.approx(0.25)


def test_an_agent_that_died_and_a_broker_without_marks():
    case = CaseEvents("")
    case.mark("producer", 0, "measure_begin", SECOND)
    case.sample("broker-1", SECOND, 1.0)
    case.sample("broker-1", 3 * SECOND, 2.0)
    found = processes(case)

    assert set(found) == {"broker"}
    assert found["broker"]["cpu_s"] == pytest.approx(1.0)


def test_nothing_at_all():
    assert processes(CaseEvents("")) == {}
