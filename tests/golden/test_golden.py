"""Runs of every family, stored when they were made: analysed today they must give the same figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.report.document import document_text
from streamgauge.report.results import results_document

from . import stored

FAMILIES = ("compare", "e2e", "e2e_kafka", "e2e_scenarios", "fanout", "limit", "sweep", "transports")


def test_every_family_has_a_stored_run() -> None:
    assert tuple(stored.RUNS) == FAMILIES


@pytest.mark.parametrize("name", stored.RUNS)
def test_a_stored_run_gives_the_same_figures(name: str, tmp_path: Path) -> None:
    """None is so large that Spark would help."""
    run = stored.copy_of(name, tmp_path)
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    found = json.loads(document_text(results_document(run)))
    differences = stored.differences(stored.expected_of(name), found)
    assert not differences, "\n".join(differences[:40])


class TestComparing:
    def test_whole_numbers_and_words_must_be_equal(self) -> None:
        before = {"sent": 3, "words": ["a"], "mean": 1.0, "none": None}
        assert stored.differences(before, before) == []
        for changed in ({"sent": 4}, {"words": ["b"]}, {"words": ["a", "b"]}, {"mean": 1.001}, {"none": 0}):
            assert len(stored.differences(before, before | changed)) >= 1, changed

    def test_what_is_missing_is_told_and_what_is_new_is_not(self) -> None:
        assert stored.differences({"a": {"b": 1}}, {"a": {}}) == ["a.b: missing, was 1"]
        assert stored.differences({"a": 1}, {"a": 1, "c": 2}) == []
        assert stored.differences({"a": []}, {"a": [1]}) == ["a: missing, was []"]

    def test_the_last_digits_of_a_sum_may_differ(self) -> None:
        assert stored.differences({"mean": 0.1 + 0.2}, {"mean": 0.3}) == []

    def test_what_was_renamed_is_looked_for_under_its_new_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(stored.RENAMED, "cases.*.range_s.published", "cases.*.span_s.acked")
        monkeypatch.setitem(stored.REWORDED, "cases.*.status", {"ok": "whole"})
        monkeypatch.setitem(stored.LEFT_OUT, "cases.*.reasons", "are typed now")
        before = {"cases": [{"status": "ok", "range_s": {"published": 2.0}, "reasons": []}]}
        now = {"cases": [{"status": "whole", "span_s": {"acked": 2.0}}]}
        assert stored.differences(before, now) == []
        assert len(stored.differences(before, before)) == 2

    def test_a_place_that_was_moved_takes_along_what_is_below_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(stored.RENAMED, "comparisons", "families.compare.rows")
        before = {"comparisons": [{"p": 0.5}]}
        assert stored.differences(before, {"families": {"compare": {"rows": [{"p": 0.5}]}}}) == []
