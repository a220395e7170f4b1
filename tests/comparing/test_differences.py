from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffDocument, DiffVerdict
from streamgauge.comparing.measured import measured_run
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode
from streamgauge.spec.families import family_of
from tests.report.sample_comparison import compared_run

from .simulated_pairs import KAFKA, not_valid, simulated, with_environment

QUIET, NONE = DiffVerdict.NO_DIFFERENCE_SEEN, DiffVerdict.NOT_COMPARABLE


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return simulated(tmp_path_factory.mktemp("base"), 1.0, seed=10)


def diff(base: list[RunDir], *new: list[RunDir]) -> DiffDocument:
    sides = [[measured_run(run) for run in side] for side in (base, *new)]
    return diff_document(sides[0], sides[1:])


def verdicts(document: DiffDocument) -> dict[str, DiffVerdict]:
    [case] = document.differences[0].cases
    return {each.metric: each.verdict for each in case.metrics}


def test_twice_as_slow_is_slower_and_the_rate_is_the_same(base: RunDir, tmp_path: Path) -> None:
    document = diff([base], [simulated(tmp_path, 2.0, seed=20)])
    slower = DiffVerdict.SLOWER
    assert verdicts(document) == {
        "p50": slower,
        "p90": slower,
        "p99": slower,
        "p99.9": NONE,
        "mean": slower,
        "rate": QUIET,
    }
    [p50, _, _, p99_9, *_] = document.differences[0].cases[0].metrics
    assert p50.ratio == pytest.approx(2, rel=0.05)
    assert p50.interval is not None
    assert p50.interval[0] < 2 < (p50.interval[1] or 0)
    assert (p50.unit, p50.base) == ("ms", pytest.approx(1.03, rel=0.1))
    assert [(why.code, why.about) for why in p99_9.causes] == [
        (CauseCode.TOO_FEW_MESSAGES, "p99.9, base"),
        (CauseCode.TOO_FEW_MESSAGES, "p99.9, new"),
    ]


def test_the_other_way_round_it_is_faster(base: RunDir, tmp_path: Path) -> None:
    assert verdicts(diff([simulated(tmp_path, 2.0, seed=20)], [base]))["p50"] is DiffVerdict.FASTER


def test_another_run_of_the_same_and_the_run_itself_are_no_difference(base: RunDir, tmp_path: Path) -> None:
    document = diff([base], [simulated(tmp_path, 1.0, seed=30)], [base])
    for each in document.differences:
        assert {found.verdict for case in each.cases for found in case.metrics} == {QUIET, NONE}


def test_a_run_that_may_not_be_quoted_is_not_compared(base: RunDir, tmp_path: Path) -> None:
    document = diff([base], [not_valid(simulated(tmp_path, 9.0, seed=20))])
    assert set(verdicts(document).values()) == {NONE}
    [case] = document.differences[0].cases
    assert case.new.validity == "invalid"
    assert (case.metrics[0].causes[0].code, case.metrics[0].causes[0].about) == (CauseCode.INCOMPLETE, "new")
    assert case.metrics[0].new is not None, "it is shown all the same"
    assert case.metrics[0].new > 9


def test_differences_of_environment_and_settings_are_told(base: RunDir, tmp_path: Path) -> None:
    new = simulated(tmp_path, 1.0, seed=20, acks="1")
    with_environment(new, systems={"sim-0": {**KAFKA, "kafka": "5.0", "bootstrap": "127.0.0.1:99"}})
    [found] = diff([base], [new]).differences
    assert [(each.name, each.new) for each in found.environment] == [("systems.sim-0.kafka", "5.0")]
    assert [(each.name, each.base, each.new) for each in found.settings] == [("acks", "all", "1")]


def test_cases_without_a_like_are_listed(base: RunDir, tmp_path: Path) -> None:
    new = simulated(tmp_path, 1.0, 5.0, seed=20)
    [found] = diff([base], [new]).differences
    assert [case.settings for case in found.cases] == [{"target": "sim-0"}]
    assert found.only_new == [f"{new.id}/002"]
    assert found.only_base == []


def test_repeats_of_a_side_are_put_together(base: RunDir, tmp_path: Path) -> None:
    again = simulated(tmp_path / "again", 1.0, seed=40)
    new = [simulated(tmp_path / str(seed), 1.3, seed=seed) for seed in (50, 60)]
    document = diff([base, again], new)
    assert document.base == [base.id, again.id]
    [case] = document.differences[0].cases
    assert case.base.cases == [f"{base.id}/001", f"{again.id}/001"]
    assert verdicts(document)["p50"] is DiffVerdict.SLOWER


def test_an_unpaced_load_is_compared_by_its_rate_alone(tmp_path: Path) -> None:
    runs = [simulated(tmp_path / str(seed), 1.0, seed=seed, rate="unlimited") for seed in (1, 2)]
    assert list(verdicts(diff([runs[0]], [runs[1]]))) == ["rate"]


def test_a_family_that_has_no_such_figures_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = compared_run(tmp_path)
    monkeypatch.setattr(type(family_of("compare")), "measured", lambda *_: None)
    with pytest.raises(BadInput, match="runs of kind compare have no figures"):
        measured_run(run)
