from __future__ import annotations

from typing import Any

from streamgauge.comparing.matching import differing, matching, repeats_of, telling_settings
from streamgauge.comparing.measured import Measured
from streamgauge.core.verdicts import CauseCode, Integrity, Validity, cause
from streamgauge.report.document import ValidityVerdict


def part(case: str, run: str = "base", **settings: Any) -> Measured:
    valid = ValidityVerdict(verdict=Validity.VALID)
    nothing = cause(CauseCode.NOTHING_MEASURED)
    return Measured(run, case, settings, Integrity.OK, valid, [], lambda _: nothing)


def names(groups: Any) -> list[list[str]]:
    return [[each.case for each in group.parts] for group in groups]


def test_cases_are_matched_by_what_tells_them_apart_whatever_they_are_called() -> None:
    base = [part("001", rate=1, acks="all"), part("002", rate=5, acks="all")]
    new = [part("001", rate=5, acks="1"), part("002", rate=1, acks="1"), part("003", rate=9, acks="1")]
    found = matching(base, new)
    assert [(each.settings, each.base.parts[0].case, each.new.parts[0].case) for each in found.matched] == [
        ({"rate": 1}, "001", "002"),
        ({"rate": 5}, "002", "001"),
    ]
    assert [each.model_dump() for each in found.changed] == [{"name": "acks", "base": "all", "new": "1"}]
    assert names(found.only_new) == [["003"]]
    assert found.only_base == []


def test_single_cases_are_matched_though_everything_is_another() -> None:
    found = matching([part("001", target="a", rate=1)], [part("001", target="b", rate=2)])
    assert len(found.matched) == 1
    assert {each.name for each in found.changed} == {"target", "rate"}


def test_cases_with_the_same_settings_are_repeats() -> None:
    rounds = [part("001", rate=1), part("002", rate=2), part("003", rate=1), part("001", "again", rate=1)]
    assert names(repeats_of(rounds)) == [["001", "003", "001"], ["002"]]
    assert telling_settings(repeats_of(rounds)) == ["rate"]
    assert telling_settings(repeats_of(rounds[:1])) == []


def test_a_setting_that_one_side_lacks_is_a_difference() -> None:
    assert [each.model_dump() for each in differing({"a": 1, "b": 2}, {"b": 2, "c": [1]})] == [
        {"name": "a", "base": 1, "new": None},
        {"name": "c", "base": None, "new": [1]},
    ]
