from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from streamgauge.comparing.check import CheckDocument, check_document
from streamgauge.comparing.check_show import junit_xml, show_check
from streamgauge.comparing.expectations import load_expectations
from streamgauge.comparing.measured import measured_run
from streamgauge.comparing.schema import diff_schema
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.report.markdown_renderer import shown_markdown
from tests.report.seen import console_text

from .simulated_pairs import not_valid, simulated

MET, MISSED, OPEN = Outcome.MET, Outcome.MISSED, Outcome.NOT_DECIDABLE


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return simulated(tmp_path_factory.mktemp("base"), 1.0, seed=10)


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return simulated(tmp_path_factory.mktemp("slower"), 1.5, seed=20)


def checked(folder: Path, run: RunDir, text: str, *baseline: RunDir) -> CheckDocument:
    file = folder / "expectations.yaml"
    file.write_text(text)
    return check_document(
        run,
        load_expectations(file, "e2e"),
        [measured_run(each) for each in baseline],
        confidence=0.95,
        between_runs_percent=3.0,
    )


def outcomes(document: CheckDocument) -> dict[str, Outcome]:
    return {each.outcome.objective: each.outcome.outcome for each in document.expected}


def test_what_is_kept_is_a_pass(tmp_path: Path, base: RunDir) -> None:
    found = checked(tmp_path, base, "objectives: [p99<1s, lost=0, valid]")
    jsonschema.Draft202012Validator(diff_schema()).validate(json.loads(found.model_dump_json()))
    assert found.outcome is MET
    assert outcomes(found) == {"status ok": MET, "p99<1000ms": MET, "lost=0": MET, "valid": MET}


def test_what_is_not_is_a_fail_and_the_runs_own_objectives_do_not_count(tmp_path: Path, base: RunDir) -> None:
    found = checked(tmp_path, base, "objectives: [p50<1us, lost=0]")
    assert found.outcome is MISSED
    assert outcomes(found)["lost=0"] is MET


def test_a_percentile_without_support_is_inconclusive(tmp_path: Path, base: RunDir) -> None:
    found = checked(tmp_path, base, "objectives: [p99.99<1s]")
    assert (found.outcome, outcomes(found)["p99.99<1000ms"]) == (OPEN, OPEN)


def test_a_ratio_decides_by_its_interval(tmp_path: Path, base: RunDir, slower: RunDir) -> None:
    text = "baseline: [p50<110%, p90<150%, mean<300%, rate>=50%]"
    found = checked(tmp_path, slower, text, base)
    assert outcomes(found) == {
        "status ok": MET,
        "p50<110%": MISSED,
        "p90<150%": OPEN,
        "mean<300%": MET,
        "rate>=50%": MET,
    }
    assert found.outcome is MISSED
    [p50] = [each.outcome for each in found.expected if each.outcome.metric == "p50"]
    assert p50.figure == pytest.approx(150, rel=0.05)
    assert p50.interval is not None
    assert p50.interval[0] > 110


def test_a_run_that_did_not_end_well_is_a_fail_whatever_was_asked(tmp_path: Path) -> None:
    run = not_valid(simulated(tmp_path / "run", 1.0))
    found = checked(tmp_path, run, "objectives: [rate>=1/s]")
    assert found.outcome is MISSED
    assert outcomes(found)["status ok"] is MISSED


def test_a_case_that_the_baseline_has_not_is_inconclusive(tmp_path: Path, base: RunDir) -> None:
    two = simulated(tmp_path / "two", 1.0, 1.0, seed=30)
    found = checked(tmp_path, two, "baseline: [p50<200%]", base)
    assert [(each.case, each.outcome.outcome) for each in found.expected] == [
        ("run", MET),
        ("target=sim-0", MET),
        ("case 002", OPEN),
    ]
    assert "the baseline has no case with these settings" in console_text(show_check(found), 200)


def test_a_case_that_the_baseline_alone_has_is_inconclusive(tmp_path: Path, base: RunDir) -> None:
    """Else a change that breaks one target's plan would pass."""
    two = simulated(tmp_path / "two", 1.0, 1.0, seed=30)
    found = checked(tmp_path, base, "baseline: [p50<200%]", two)
    assert [(each.case, each.outcome.outcome) for each in found.expected] == [
        ("run", MET),
        ("target=sim-0", MET),
        (f"case 002 of {two.id}", OPEN),
    ]
    assert found.outcome is OPEN
    assert "the run has none with its settings" in console_text(show_check(found), 200)


def test_junit_counts_what_is_missed_and_what_nobody_can_say(
    tmp_path: Path, base: RunDir, slower: RunDir
) -> None:
    found = checked(tmp_path, slower, "objectives: [p99.99<1s]\nbaseline: [p50<110%]", base)
    suite = Xml.fromstring(junit_xml(found)).find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    by_name = {test.get("name"): [part.tag for part in test] for test in suite}
    assert by_name == {
        "status ok": [],
        "p99.99<1000ms": ["error"],
        "p50<110% of the baseline": ["failure"],
    }
    [failure] = suite.iter("failure")
    assert "it was 15" in (failure.get("message") or "")
    assert "measure longer" in (next(iter(suite.iter("error"))).get("message") or "")


def test_words_that_xml_cannot_hold_are_left_out(tmp_path: Path, base: RunDir) -> None:
    found = checked(tmp_path, base, "objectives: [valid]")
    found.name = 'a "name" <b>\x00\x1b'
    assert Xml.fromstring(junit_xml(found)) is not None


def test_a_summary_for_people(tmp_path: Path, base: RunDir, slower: RunDir) -> None:
    found = checked(tmp_path, slower, "baseline: [p50<110%]", base)
    text = shown_markdown(show_check(found))
    assert text.startswith("# sim: fail")
    assert "p50\\<110%" in text
    assert "| the only case |" in text
