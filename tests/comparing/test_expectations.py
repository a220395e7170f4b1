from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.comparing.expectations import load_expectations
from streamgauge.core.errors import BadInput


def loaded(folder: Path, text: str, kind: str = "e2e") -> tuple[list[str], list[str]]:
    file = folder / "expectations.yaml"
    file.write_text(text)
    found = load_expectations(file, kind)
    return [str(each) for each in found.objectives], [str(each) for each in found.baseline]


def test_objectives_and_what_is_expected_against_a_baseline(tmp_path: Path) -> None:
    text = "objectives: [p99<20ms, lost=0, valid]\nbaseline: [p99<110%, p99.95<=130%, rate>=95%, mean<105%]\n"
    assert loaded(tmp_path, text) == (
        ["p99<20ms", "lost=0", "valid"],
        ["p99<110%", "p99.95<=130%", "rate>=95%", "mean<105%"],
    )
    assert loaded(tmp_path, "objectives: ratio<105%", "compare") == (["ratio<105%"], [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "expects nothing"),
        ("objectives: []", "expects nothing"),
        ("baseline: [p99<20ms]", "baseline: 'p99<20ms': '20ms' is not a share in %"),
        ("baseline: [lost<110%]", "there is no figure 'lost'"),
        ("baseline: [rate<95%]", "of rate use > or >="),
        ("objectives: [p99<110%]", "objectives: "),
        ("objectives: [p99<1ms, p99<2ms]", "p99 has two objectives"),
        ("objectives: {p99: 1}", "must be a list of objectives"),
        ("slo: [p99<1ms]", "slo: unknown field"),
        ("- p99<1ms", "must be a mapping"),
    ],
)
def test_what_cannot_be_expected_is_refused_with_file_and_field(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(BadInput) as caught:
        loaded(tmp_path, text)
    assert words in str(caught.value)
    assert str(tmp_path / "expectations.yaml") in str(caught.value)
