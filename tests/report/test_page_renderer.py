from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.medium import Tone
from streamgauge.report.page_frame import page_script
from streamgauge.report.page_renderer import render_page
from streamgauge.report.plot_parts import Axis, NumberText, Plot, Series, line_style
from streamgauge.report.shown import Badge, Figures, Section, Shown
from streamgauge.report.write import write_report

from ..serve.axe import serious_violations
from .chromium import Chromium
from .pdf_text import pdf_pages
from .sample_comparison import compared_run
from .sample_run import limit_run, single_run, sweep_run, transports_run
from .seen import own_part, page, words

_EVERYTHING_OPEN = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
_ALL_DRAWN = "document.documentElement.dataset.drawn === document.documentElement.dataset.figures"

_SOME_DRAWN = "Number(document.documentElement.dataset.drawn) >= 1"

_DESKTOP = {"width": 1280}
_DARK = {"width": 1280, "scheme": "dark"}
_PHONE = {"width": 375, "phone": True}
_SCREENS = (_DESKTOP, _DARK, _PHONE)


_MS = NumberText("up to", 3, "ms")
_EMPTY = Shown("k", "t", "r", Badge("ok", Tone.GOOD), [], [], [])


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
    own = own_part(page(sweep))
    assert not re.search(r"url\(|@import|https?://", own)
    for tag, attributes in _tags(own):
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")


def test_names_cannot_become_markup(sweep: RunDir) -> None:
    own = own_part(page(sweep))
    scripts = [attributes for tag, attributes in _tags(own) if tag == "script"]
    assert scripts == [{}, {"type": "application/json", "id": "figures"}, {}]
    assert "<img src=x" not in own
    assert "consumer-1 died: &lt;/script&gt;" in own


def test_every_figure_has_a_place(sweep: RunDir) -> None:
    own = own_part(page(sweep))
    embedded = re.search(r'id="figures">(.*?)</script>', own, re.DOTALL)
    assert embedded is not None
    places = [attributes["data-figure"] for _, attributes in _tags(own) if "data-figure" in attributes]
    assert places == list(json.loads(embedded[1]))


def test_the_facts_and_both_verdicts_stand_on_top(one_case: RunDir, sweep: RunDir, tmp_path: Path) -> None:
    text = words(page(one_case))
    assert re.search(r"Latency from the intended time\d+\.\d ms p99", text)
    assert "Faults0 faults in 26,000 messages" in text
    assert "Integrityall accounted for" in text
    assert "Validityvalid" in text
    text = words(page(sweep))
    assert "Faults12 faults in 83,000 messages" in text
    assert "Integritymessages lost" in text
    assert "Validitydo not quote" in text
    text = words(page(single_run(tmp_path / "run", consumers=0)))
    assert "Latency to the ack" in text
    assert "receipt not checked: no consumers" in text


def test_a_doubtful_percentile_is_greyed(sweep: RunDir) -> None:
    found = re.findall(r'<td class="doubtful"[^>]*>(~[\d.]+)</td>', own_part(page(sweep)))
    assert "~10.83" in found


def test_the_script_asks_for_nothing_and_the_page_is_small(sweep: RunDir) -> None:
    script = page_script()
    assert set(re.findall(r"https?://[^\"]*", script)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|sendBeacon|WebSocket|innerHTML", script)
    made = page(sweep).encode()
    assert len(made) < 1_500_000
    # What comes with every page, whatever it shows.
    assert len(render_page(_EMPTY, {}).encode()) < 60_000


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    runs = {
        "one case": single_run(folder / "one"),
        "no consumers": single_run(folder / "none", consumers=0),
        "sweep": sweep_run(folder / "sweep"),
        "limit": limit_run(folder / "limit"),
        "transports": transports_run(folder / "transports"),
        "compare": compared_run(folder / "compare"),
    }
    return {name: Path(write_report(run)) for name, run in runs.items()}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "screen"),
    [
        *((name, screen) for name in ("one case", "no consumers", "sweep", "compare") for screen in _SCREENS),
        # Of many cases with plots of the same kind one screen will do.
        ("limit", _DESKTOP),
        ("transports", _DESKTOP),
    ],
)
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
    assert int(facts["drawn"]) >= 6, facts
    assert browser.evaluate("innerWidth") == screen["width"]
    marks = "p.querySelector('path.line, path.bars, path.points, .cells rect')"
    drawn = f"Array.from(document.querySelectorAll('.plot')).filter((p) => {marks}).length"
    assert browser.evaluate(drawn) == int(facts["figures"])
    assert browser.troubles() == []


@pytest.mark.browser
def test_plots_wait_until_they_are_in_view(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["sweep"], 1280, 800)
    browser.wait_for(_SOME_DRAWN)
    facts = browser.facts()
    assert int(facts["drawn"]) <= 3
    assert int(facts["figures"]) > 20
    browser.evaluate("location.hash = '#case-002'")
    browser.wait_for("document.getElementById('case-002').open")
    browser.evaluate("document.querySelector('#case-002 .plot').scrollIntoView()")
    browser.wait_for(f"Number(document.documentElement.dataset.drawn) > {facts['drawn']}")


@pytest.mark.browser
def test_the_scale_can_be_switched(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["one case"], 1280, 60_000)
    browser.wait_for(_ALL_DRAWN)
    kind = "document.querySelector('.plot').dataset.scale"
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
    colour = "getComputedStyle(document.querySelector('.plot text')).fill"
    browser.wait_for(_SOME_DRAWN)
    dark = browser.evaluate(colour)
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.wait_for(_ALL_DRAWN)
    browser.wait_for(f"{colour} !== '{dark}'")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    browser.wait_for(f"{colour} === '{dark}'")
    browser.wait_for("document.documentElement.dataset.overflow === '0'")
    assert browser.facts()["errors"] == "0"


@pytest.mark.browser
def test_on_paper_is_what_is_folded_on_the_screen(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["sweep"], 1280, 800)
    browser.wait_for(_SOME_DRAWN)
    printed = browser.call("Page.printToPDF", printBackground=True)
    paper = pdf_pages(base64.b64decode(printed["data"]))
    assert len(paper) > 5
    assert all(paper), "no page is empty"
    text = "".join(paper)
    for case in ("001", "002", "003", "004", "005"):
        assert f"Case{case}" in text
    for part in ("Parametersinforce", "Perpartition", "Latencyofeachleg,ms", "~10.83", "Howtoreadthis."):
        assert part in text, part
    assert text.count("Latencyovertime") >= 3, "plots that nobody had scrolled to are there, too"
    assert browser.troubles() == []


@pytest.mark.browser
@pytest.mark.parametrize("name", ["one case", "no consumers", "sweep", "limit", "transports", "compare"])
def test_nothing_in_a_report_keeps_anybody_out(browser: Chromium, pages: dict[str, Path], name: str) -> None:
    for scheme in ("light", "dark"):
        browser.open(pages[name], 1280, 60_000, scheme)
        browser.evaluate(_EVERYTHING_OPEN)
        browser.wait_for(_ALL_DRAWN)
        assert serious_violations(browser) == []


def _press(browser: Chromium, *keys: str) -> None:
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key=key)


@pytest.mark.browser
def test_values_are_read_by_keys_as_by_a_slider(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["one case"], 1280, 60_000)
    browser.wait_for(_ALL_DRAWN)
    reader = "document.querySelectorAll('.reader')[1]"
    read = f"{reader}.getAttribute('aria-valuetext')"
    browser.evaluate(f"{reader}.focus()")
    _press(browser, "Home")
    first = browser.evaluate(read)
    assert re.fullmatch(r"4; p50: [\d.]+; p99: [\d.]+; max: [\d.]+", first), first
    _press(browser, "ArrowRight")
    assert browser.evaluate(read).startswith("5; p50: ")
    told = "document.querySelectorAll('.told')[1]"
    assert browser.evaluate(f"{told}.textContent").startswith("5p50: ")
    _press(browser, "End")
    assert browser.evaluate(f"{reader}.getAttribute('aria-valuenow')") == browser.evaluate(
        f"{reader}.getAttribute('aria-valuemax')"
    )
    _press(browser, "Escape")
    assert browser.evaluate(f"{told}.hidden") is True
    assert browser.troubles() == []


@pytest.mark.browser
def test_a_thinned_plot_is_read_by_stretches(browser: Chromium, tmp_path: Path) -> None:
    seconds = range(43_200)
    lines = [
        Series("p50", seconds, [1.0 + second % 5 for second in seconds], line_style(0, 2), told=_MS),
        Series(
            "p99", seconds, [9.0 if second == 200 else 2.0 for second in seconds], line_style(1, 2), told=_MS
        ),
    ]
    plot = Plot("Latency over time", lines, Axis("seconds"), Axis("ms"), reading="across")
    made = tmp_path / "long.html"
    made.write_text(render_page(replace(_EMPTY, sections=[Section("s", [Figures([plot])])]), {}))
    browser.open(made, 1280, 3000)
    browser.wait_for(_ALL_DRAWN)
    reader = "document.querySelector('.reader')"
    browser.evaluate(f"{reader}.focus()")
    _press(browser, "Home")
    assert (
        browser.evaluate(f"{reader}.getAttribute('aria-valuetext')")
        == "0 to 145; p50: 1 ms to 5 ms; p99: 2 ms"
    )
    _press(browser, "ArrowRight")
    read = browser.evaluate(f"{reader}.getAttribute('aria-valuetext')")
    assert read == "145 to 290; p50: 1 ms to 5 ms; p99: 2 ms to 9 ms"
    assert browser.troubles() == []


@pytest.mark.browser
def test_a_stretch_is_zoomed_into_and_a_name_hides_its_line(
    browser: Chromium, pages: dict[str, Path]
) -> None:
    browser.open(pages["one case"], 1280, 3_000)
    place = "document.querySelectorAll('.plot')[1]"
    browser.wait_for(f"{place}.dataset.drawn === 'yes'")
    box = browser.evaluate(f"{place}.querySelector('.reader').getBoundingClientRect().toJSON()")
    last_tick = f"Array.from({place}.querySelectorAll('.ticks text')).at(-1).textContent"
    whole = browser.evaluate(last_tick)
    y = box["y"] + box["height"] / 2
    for kind, share in (("mousePressed", 0.2), ("mouseMoved", 0.3), ("mouseReleased", 0.4)):
        x = box["x"] + share * box["width"]
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=1)
    browser.wait_for(f"{place}.dataset.zoomed === 'yes'")
    assert browser.evaluate(last_tick) != whole
    browser.evaluate(f"{place}.querySelector('.show-all').click()")
    browser.wait_for(f"{place}.dataset.zoomed === 'no'")
    assert browser.evaluate(last_tick) == whole
    lines = f"{place}.querySelectorAll('.drawing path.line').length"
    assert browser.evaluate(lines) == 3
    browser.evaluate(f"{place}.querySelector('.legend button').click()")
    assert browser.evaluate(lines) == 2
    assert browser.evaluate(f"{place}.querySelector('.legend button').ariaPressed") == "false"
    assert browser.troubles() == []


_FOR_EARS = """(function () {
  const faults = [];
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const named = (element) => element.getAttribute("aria-label") || element.textContent.trim();
  const ids = all("[id]").map((element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("twice: " + id);
  for (const table of all("table")) {
    if (!table.caption || !table.caption.textContent) faults.push("table without caption");
  }
  for (const svg of all(".drawing > svg")) {
    const words = document.getElementById(svg.getAttribute("aria-describedby"));
    if (svg.getAttribute("role") !== "img" || !named(svg) || !words || words.textContent.length < 20) {
      faults.push("plot without words: " + svg.getAttribute("aria-label"));
    }
  }
  for (const slider of all("[role=slider]")) {
    for (const name of ["aria-label", "aria-valuetext", "aria-valuenow", "aria-valuemin", "aria-valuemax"]) {
      if (!slider.hasAttribute(name)) faults.push("slider without " + name);
    }
    if (slider.tabIndex !== 0) faults.push("slider out of reach");
  }
  for (const element of all("button, a, summary, [tabindex]")) {
    if (!named(element)) faults.push("no name: " + element.outerHTML);
  }
  for (const name of ["main", "footer", "h1"]) if (all(name).length !== 1) faults.push("not one " + name);
  let level = 1;
  for (const heading of all("h1, h2, h3, h4")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push("level left out: " + heading.textContent);
    level = own;
  }
  return faults;
})()"""


@pytest.mark.browser
@pytest.mark.parametrize("name", ["one case", "compare"])
def test_who_does_not_see_finds_everything(browser: Chromium, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], 1280, 60_000)
    browser.evaluate(_EVERYTHING_OPEN)
    browser.wait_for(_ALL_DRAWN)
    assert browser.evaluate(_FOR_EARS) == []
    # What takes the focus comes in the order of the page.
    places = "Array.from(document.querySelectorAll('[tabindex]'), (element) => element.tabIndex)"
    assert set(browser.evaluate(places)) == {0}
