from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import Case, Statistics
from streamgauge.report.case_section import (
    accounting_tiles,
    latency_table,
    load_table,
    noise_floor_text,
    percentile_cell,
)
from streamgauge.report.hosts import clock_words, hosts_of
from streamgauge.report.medium import Tone
from streamgauge.report.settings_text import value_text

from .sample_run import cases_of_run, single_run


@pytest.fixture
def case(one_case: RunDir) -> Case:
    return cases_of_run(one_case)[0]


@pytest.mark.parametrize(("count", "doubtful"), [(999, True), (1000, False)])
def test_a_percentile_with_too_little_behind_it_is_marked(count: int, doubtful: bool) -> None:
    statistics = Statistics(count=count, p99=4.0, max=9.0)
    assert percentile_cell(statistics, "p99").is_doubtful is doubtful
    assert not percentile_cell(statistics, "max").is_doubtful
    assert not percentile_cell(statistics, "p50").is_doubtful, "nothing is known, so nothing is doubtful"


def test_a_row_a_leg_that_has_messages(case: Case, tmp_path: Path) -> None:
    assert [str(row.cells[0].value) for row in latency_table(case).rows] == [
        "received − intended",
        "received − sent",
        "acked − sent",
        "broker − sent",
        "received − broker",
        "sent − intended",
    ]
    [alone] = cases_of_run(single_run(tmp_path / "alone", consumers=0))
    assert [str(row.cells[0].value) for row in latency_table(alone).rows] == [
        "acked − sent",
        "sent − intended",
    ]


def test_what_nobody_looked_for_is_not_said_to_be_absent(case: Case, tmp_path: Path) -> None:
    assert all(tile.is_checked for tile in accounting_tiles(case).tiles)
    [alone] = cases_of_run(single_run(tmp_path / "alone", consumers=0))
    unchecked = [tile.name for tile in accounting_tiles(alone).tiles if not tile.is_checked]
    assert unchecked == [
        "received",
        "lost-write",
        "unseen",
        "duplicate",
        "out of order",
        "corrupt",
        "unexpected",
    ]


def test_messages_without_outcome_have_a_tile(case: Case) -> None:
    case.accounting.acked -= 3
    case.accounting.received -= 3
    tile = accounting_tiles(case).tiles[-1]
    assert (tile.name, tile.text, tile.tone) == ("without outcome", "3", Tone.BAD)


def test_the_load_has_a_row_for_each_time(case: Case) -> None:
    assert [row.cells[0].value for row in load_table(case).rows] == ["sent", "acked", "received", "broker"]


def test_beside_the_schedule_lag_stands_the_noise_floor_or_that_it_is_not_known(case: Case) -> None:
    known = case.model_copy(update={"noise_floor_p99_ms": 0.21})
    assert noise_floor_text(known) == "noise floor p99 0.210 ms"
    assert noise_floor_text(case.model_copy(update={"noise_floor_p99_ms": None})) == "noise floor not known"


def test_hosts_and_their_worst_clocks(case: Case) -> None:
    assert list(hosts_of(case)) == ["bench-1"]
    assert clock_words(case) == [], "its own clock needs no word"
    for clock, error in zip(case.clocks, (0.1, 0.4, 0.2, 0.3), strict=True):
        clock.readings, clock.error_ms, clock.offset_ms = 3, error, 12.0
    assert clock_words(case) == ["bench-1 12.00 ms ± 0.400 ms"]


def test_settings_stand_on_one_line() -> None:
    assert value_text({"a": 1, "b": [1.5, None], "c": {}}) == "a=1, b=1.5, –, c=–"
