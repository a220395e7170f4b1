"""Every family's page with figures that may not be quoted, as a browser shows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.core.verdicts import CauseCode, Validity, cause
from streamgauge.families.fanout.show import show_fanout
from streamgauge.report.document import ValidityVerdict
from streamgauge.report.page_renderer import render_page
from streamgauge.report.write import write_report
from tests.families.fanout.test_show import TABLES, document_of, point

from .chromium import Chromium
from .sample_comparison import compared_run
from .sample_run import doubtful, limit_run, single_run, sweep_run, transports_run

_AMBER = "rgb(138, 83, 0)"
_CARD = """(() => {
  const cards = Array.from(document.querySelectorAll('.fact'));
  const card = cards.find((each) => each.textContent.startsWith('Validity'));
  const figure = card.querySelector('.figure');
  return {
    tone: card.className, words: figure.textContent, colour: getComputedStyle(figure).color,
    text: card.textContent, seen: card.getBoundingClientRect().height > 0,
  };
})()"""
_TOO_SHORT = "too short to tell whether it was at rest: 2 s were measured, but it takes 5 s"


def _fanout(folder: Path) -> Path:
    doubt = cause(CauseCode.TOO_SHORT, second_count=2, needed_count=5)
    verdict = ValidityVerdict(verdict=Validity.INVALID, causes=[doubt])
    document = document_of([point("gateway", "1", 1000, 3.2, validity=verdict)], validity=Validity.INVALID)
    made = folder / "fanout.html"
    made.write_text(render_page(show_fanout(document, TABLES), {}))
    return made


PAGES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "e2e": (lambda folder: Path(write_report(doubtful(single_run(folder / "run")))), _TOO_SHORT),
    "sweep": (lambda folder: Path(write_report(doubtful(sweep_run(folder / "run")))), _TOO_SHORT),
    "limit": (lambda folder: Path(write_report(doubtful(limit_run(folder / "run")))), _TOO_SHORT),
    "transports": (lambda folder: Path(write_report(doubtful(transports_run(folder / "run")))), _TOO_SHORT),
    "compare": (
        lambda folder: Path(write_report(compared_run(folder / "run"))),
        "the control found that A differs from itself",
    ),
    "fanout": (_fanout, _TOO_SHORT),
}


@pytest.mark.browser
@pytest.mark.parametrize("family", PAGES)
def test_what_may_not_be_quoted_is_amber_and_says_why_and_what_to_do(
    family: str, browser: Chromium, tmp_path: Path
) -> None:
    make, why = PAGES[family]
    browser.open(make(tmp_path), 1280, 2000)
    card = browser.evaluate(_CARD)
    assert card["seen"]
    assert card["tone"].split() == ["fact", "warn"]
    assert (card["words"], card["colour"]) == ("do not quote", _AMBER)
    assert why in card["text"]
    assert "good" not in browser.evaluate("document.querySelector('h1 .pill').className").split()
    assert browser.troubles() == []
