from __future__ import annotations

from bench.from_start import lines


def test_a_stage_that_only_some_turns_had_took_no_time_in_the_others() -> None:
    found = lines([{"version": 0.2, "fetching": 4.0}, {"version": 0.3}, {"version": 0.4}])
    assert found[0].split() == ["CPU", "of", "--version", "0.30", "s", "(0.20–0.40", "of", "3)"]
    assert found[1].split() == ["…", "fetching", "0.00", "s", "(0.00–4.00", "of", "3)"]


def test_what_another_tree_does_not_tell_is_not_known() -> None:
    [version, stage] = lines([{"version": 0.2, "analysing": 1.0}], [{"version": 0.4}])
    assert version.endswith("against    0.40 s (0.40–0.40 of 1)")
    assert stage.endswith("against not known")
