from __future__ import annotations

import pytest

from streamgauge.launch import live_figures
from streamgauge.launch.live_figures import MESSAGES, MISSED, LiveFigures, LiveRow
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

MS = 1_000_000


@pytest.fixture
def case() -> Case:
    workload = {
        "targets": [{"name": "k", "driver": "kafka_confluent"}],
        "load": {"messages": 90, "warm_up_messages": 10},
    }
    [case] = list(make_plan(Workload.model_validate(workload), "run").cases)
    return case


def second(number: int, sent: int, latencies_ms: dict[int, int], case: str = "001") -> list[LiveRow]:
    counts = [("producer", MESSAGES, sent), ("consumer", MESSAGES, sum(latencies_ms.values()))]
    rows = [LiveRow(case, kind, number, place, count) for kind, place, count in counts]
    return rows + [LiveRow(case, "consumer", number, ms * MS, n) for ms, n in latencies_ms.items()]


def test_parts_of_a_second_that_come_apart_are_added_up(case: Case) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    figures.add(second(0, 30, {1: 98, 50: 1}))
    figures.add(second(1, 20, {2: 10}))
    figures.add(second(0, 5, {1: 1, 70: 1}))  # late
    document = figures.document()
    first, then = document["seconds"]
    assert first == pytest.approx([0, 35, 101, 1.0, 50.0, 68.0, 70.0])
    assert then == [1, 20, 10, 2.0, 2.0, 2.0, 2.0]
    [summary] = document["cases"]
    assert (summary["sent"], summary["received"], summary["planned"]) == (55, 111, 100)
    # As the report will say: between the two nearest values, in proportion.
    assert summary["latency_ms"] == pytest.approx([1.0, 45.2, 67.8, 70.0])
    assert figures.messages == 166


def test_one_line_shows_the_newest_second_that_is_over(case: Case) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    assert figures.look("001") is None
    figures.add([*second(3, 10, {4: 10}), *second(4, 1, {9: 1})])
    look = figures.look("001")
    assert look is not None
    assert (look.sent, look.received, look.p99_ms) == (11, 11, 4.0)


def test_a_view_that_stands_still_is_no_view(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    figures.add(second(0, 1, {1: 1}))
    assert figures.look("001") is not None
    monkeypatch.setattr(live_figures, "_STALE_S", -1.0)
    assert figures.look("001") is None


def test_rows_of_cases_that_nobody_began_are_not_ours(case: Case) -> None:
    figures = LiveFigures("run", None)
    figures.add(second(0, 30, {1: 1}))
    assert figures.document()["cases"] == []
    figures.begin(case)
    figures.add(second(0, 30, {1: 1}, case="hello"))
    assert figures.look("001") is None


def test_what_came_too_fast_is_told_and_the_status_shown(case: Case) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    figures.add([*second(0, 3, {1: 3}), LiveRow("001", "consumer", 0, MISSED, 7)])
    figures.end(case, "partial")
    [summary] = figures.document()["cases"]
    assert (summary["missed"], summary["status"], summary["received"]) == (7, "partial", 3)


def test_a_long_case_is_bounded_and_its_sums_are_whole(case: Case) -> None:
    figures = LiveFigures("run", 1)
    figures.begin(case)
    for number in range(1000):
        figures.add(second(number, 1, {1: 1}))
    document = figures.document()
    assert len(document["seconds"]) == 900
    assert document["seconds"][0][0] == 100
    assert document["cases"][0]["sent"] == 1000
