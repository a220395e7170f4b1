from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from plotly.offline import get_plotlyjs

from streamgauge.core.run_dir import RunDir
from streamgauge.report.page import render_page
from streamgauge.report.result_tables import ResultTables
from streamgauge.report.write import write_report

from .chromium import Chromium
from .old_document import results_document
from .sample_run import single_run, sweep_run

_EVERYTHING_OPEN = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
_ALL_DRAWN = "document.documentElement.dataset.drawn === document.documentElement.dataset.figures"

_DESKTOP = {"width": 1280}
_DARK = {"width": 1280, "scheme": "dark"}
_PHONE = {"width": 390, "phone": True}


def _page(run: RunDir) -> str:
    tables = ResultTables.read(run)
    return render_page(results_document(run, tables), tables)


def _own_part(page: str) -> str:
    """All but Plotly's code."""
    assert page.count(get_plotlyjs()) == 1
    return page.replace(get_plotlyjs(), "")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(page)
    return parser.tags


def test_the_page_loads_nothing_from_elsewhere(sweep: RunDir) -> None:
    own = _own_part(_page(sweep))
    assert not re.search(r"url\(|@import|https?://", own)
    for tag, attributes in _tags(own):
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")


def test_names_cannot_become_markup(sweep: RunDir) -> None:
    own = _own_part(_page(sweep))
    scripts = [attributes for tag, attributes in _tags(own) if tag == "script"]
    assert scripts == [{}, {"type": "application/json", "id": "figures"}, {}, {}]
    assert "<img src=x" not in own
    assert "consumer-1 died: &lt;/script&gt;" in own


def test_every_figure_has_a_place(sweep: RunDir) -> None:
    own = _own_part(_page(sweep))
    embedded = re.search(r'id="figures">(.*?)</script>', own, re.DOTALL)
    assert embedded is not None
    places = [attributes["data-figure"] for _, attributes in _tags(own) if "data-figure" in attributes]
    assert places == list(json.loads(embedded[1]))


def test_the_facts_stand_on_top(one_case: RunDir, sweep: RunDir, tmp_path: Path) -> None:
    text = re.sub(r"<[^>]+>", "", _own_part(_page(one_case)))
    assert re.search(r"Latency from the intended time\d+\.\d ms p99", text)
    assert "Every message accounted for0 faults in 26,000No lost, duplicate, reordered or corrupt" in text
    assert "VerdictOK" in text
    text = re.sub(r"<[^>]+>", "", _own_part(_page(sweep)))
    assert "12 faults in 83,0007 lost-write · 2 unseen · 3 duplicate" in text
    assert "2 ok · 1 failed · 1 partial · 1 not run" in text
    text = re.sub(r"<[^>]+>", "", _own_part(_page(single_run(tmp_path / "run", consumers=0))))
    assert "Latency to the acknowledgement" in text
    assert "Receipt not checked: no consumers." in text


def test_plotly_offers_no_upload(one_case: RunDir) -> None:
    assert "showSendToCloud: false" in _own_part(_page(one_case))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "one case": single_run(folder / "one"),
        "no consumers": single_run(folder / "none", consumers=0),
        "sweep": sweep_run(folder / "sweep"),
    }
    return {name: Path(write_report(run)) for name, run in runs.items()}


@pytest.mark.browser
@pytest.mark.parametrize("name", ["one case", "no consumers", "sweep"])
@pytest.mark.parametrize("screen", [_DESKTOP, _DARK, _PHONE], ids=["desktop", "dark", "phone"])
def test_a_browser_draws_every_plot(
    browser: Chromium, pages: dict[str, Path], name: str, screen: dict[str, Any]
) -> None:
    # So tall that everything is in view: a plot is drawn only when it is scrolled to.
    browser.open(pages[name], height=60_000, **screen)
    browser.evaluate(_EVERYTHING_OPEN)
    browser.wait_for(_ALL_DRAWN)
    facts = browser.facts()
    assert facts["errors"] == "0", facts
    assert facts["overflow"] == "0", facts
    assert "injected" not in facts
    assert int(facts["drawn"]) >= 6
    assert browser.evaluate("innerWidth") == screen["width"]
    marks = "p.querySelector('.lines path, .bars path')"
    drawn = f"Array.from(document.querySelectorAll('.plot')).filter((p) => {marks}).length"
    assert browser.evaluate(drawn) == int(facts["figures"])
    assert browser.troubles() == []


@pytest.mark.browser
def test_plots_wait_until_they_are_in_view(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["sweep"], 1280, 800)
    browser.wait_for("document.documentElement.dataset.drawn === '1'")
    assert browser.facts()["figures"] == "31"
    browser.evaluate("location.hash = '#case-002'")
    browser.wait_for("document.getElementById('case-002').open")
    browser.evaluate("document.querySelector('#case-002 .plot').scrollIntoView()")
    browser.wait_for("Number(document.documentElement.dataset.drawn) >= 3")


@pytest.mark.browser
def test_the_scale_can_be_switched(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["one case"], 1280, 60_000)
    browser.wait_for(_ALL_DRAWN)
    kind = "document.querySelector('.plot').layout.yaxis.type"
    assert browser.evaluate(kind) == "log"
    browser.evaluate("document.querySelector('.scale').click()")
    browser.wait_for(f"{kind} === 'linear'")
    assert browser.evaluate("document.querySelector('.scale').textContent") == "log scale"
    browser.evaluate("document.querySelector('.scale').click()")
    browser.wait_for(f"{kind} === 'log'")


@pytest.mark.browser
def test_printing_draws_all_in_light_colours_and_then_restores(
    browser: Chromium, pages: dict[str, Path]
) -> None:
    browser.open(pages["sweep"], 1280, 800, "dark")
    colour = "document.querySelector('.plot').layout.font.color"
    browser.wait_for("document.documentElement.dataset.drawn === '1'")
    dark = browser.evaluate(colour)
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.wait_for(_ALL_DRAWN)
    browser.wait_for(f"{colour} !== '{dark}'")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    browser.wait_for(f"{colour} === '{dark}'")
    browser.wait_for("document.documentElement.dataset.overflow === '0'")
    assert browser.facts()["errors"] == "0"
