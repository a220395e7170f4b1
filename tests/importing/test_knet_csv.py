from __future__ import annotations

import pytest

from streamgauge.importing.figures import NotThisFormat
from streamgauge.importing.knet_csv import read_knet
from tests.importing.samples import KNET


def test_a_case_for_each_library_and_operation_at_each_number_and_length() -> None:
    cases = {tuple(case.settings.values()): case for case in read_knet(KNET)}
    assert list(cases) == [
        ("KNET", "produce", 10, 100),
        ("KNET", "consume", 10, 100),
        ("Confluent", "produce", 10, 100),
        ("Confluent", "consume", 10, 100),
        ("KNET", "produce", 100, 100),
        ("Confluent", "produce", 100, 100),
    ], "a clock that was never started is no time of a consumer"
    produced = cases["KNET", "produce", 10, 100]
    [latency] = produced.latencies
    assert (latency.count, latency.mean, latency.min, latency.max) == (2, 3.0, 2.0, 4.0)
    assert latency.percentiles == {"p50": 3.0}
    assert produced.rate_per_s == pytest.approx(10 / 0.003)
    assert (produced.message_count, produced.failed_count) == (20, None)
    assert any("always went first" in note for note in produced.notes)


def test_a_comparison_of_ours_has_the_same_columns_and_took_turns() -> None:
    ours = "NumPackets;Length;javaProd;javaCons;confluentProd;confluentCons\n10;100;2000;;20000;9000\n"
    cases = read_knet(ours)
    assert [case.settings["library"] for case in cases] == ["java", "confluent", "confluent"]
    assert not any("always went first" in note for case in cases for note in case.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KNET.splitlines()[0] + "\n", "no time below"),
        (KNET.replace("KNETProd", "KNETProduced"), "KNETProduced.* is of no operation"),
        (KNET.replace(";2000;", ";fast;"), "line 2: 'fast' is no number"),
        (KNET.replace("10;100;2000", "10;100"), "line 2: has 5 of 6 cells"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(NotThisFormat, match=said):
        read_knet(text)
