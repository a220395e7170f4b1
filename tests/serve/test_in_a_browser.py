"""All pages in a real Chromium: list → run → compare → a live run that moves → stop."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.report.write import write_report
from streamgauge.serve.child_runs import COMMAND
from tests.proof import PROOF
from tests.report.chromium import Chromium
from tests.report.sample_run import single_run
from tests.waiting import wait_for

from .asking import Served, made_app, served
from .axe import serious_violations
from .conftest import NEW, OLD

pytestmark = [pytest.mark.browser, pytest.mark.process]

LONG_S = 240.0
"""In the long version Spark starts for the run, beside everything else on the machine."""
STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_run.py")))
WORKLOAD = """\
kind: e2e
name: watched
targets: [{name: zeromq, driver: zeromq}]
load: {messages: 100000, rate: 200, warm_up_messages: none, message: {size: 100}}
"""
SIZES = [(1280, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browsed") / "runs"
    for name in (OLD, NEW):
        write_report(single_run(folder / name))
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Served]:
    with served(made_app(folder, command=COMMAND if PROOF else STAND_IN)) as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


def click(browser: Chromium, selector: str, then: str) -> None:
    """And wait for what comes of it, on a page that is ready."""
    browser.evaluate(f"document.querySelector({selector!r}).click()")
    browser.wait_for(f"document.documentElement?.dataset.ready === 'yes' && ({then})")


def check(browser: Chromium, running: Served, width: int = 1280) -> None:
    """Nothing went wrong, nothing was asked for elsewhere, nothing keeps anybody out, nothing sticks out."""
    assert browser.outside(running.home) == []
    assert serious_violations(browser) == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('main, h1').length") == 2


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_from_the_list_to_a_run_to_a_difference(
    running: Served, browser: Chromium, width: int, scheme: str
) -> None:
    browser.visit(running.home, width, 900, scheme, phone=width < 500)
    check(browser, running, width)
    click(browser, f'a[href="/runs/{NEW}"]', f"location.pathname === '/runs/{NEW}'")
    check(browser, running, width)
    report = browser.evaluate("document.querySelector('iframe').getAttribute('src')")
    browser.visit(running.home, width, 900, scheme, phone=width < 500)
    assert browser.evaluate("document.querySelector('form.choose button').disabled")
    for name in (OLD, NEW):
        browser.evaluate(f"document.querySelector('input[value=\"{name}\"]').click()")
    click(browser, "form.choose button", "location.pathname === '/compare'")
    check(browser, running, width)
    assert browser.evaluate("document.getElementById('base').value") == OLD
    difference = browser.evaluate("document.querySelector('iframe').getAttribute('src')")
    for page in (report, difference):
        browser.visit(running.home.rstrip("/") + page, width, 900, scheme, phone=width < 500)
        assert browser.outside(running.home) == []
        assert serious_violations(browser) == []
        # In its sandbox it has no cookies to take, and nobody to send anything to.
        assert browser.evaluate("self.origin") == "null"
        assert browser.evaluate("fetch('/start').then(() => 'sent', () => 'kept')") == "kept"


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_the_login_page_keeps_nobody_out_but_who_has_no_token(
    folder: Path, browser: Chromium, width: int, scheme: str
) -> None:
    with served(made_app(folder, token="a-token-of-some-length")) as locked:
        browser.visit(f"{locked.home}login", width, 900, scheme, phone=width < 500)
        check(browser, locked, width)
        for token, there in (
            ("wrong", "document.getElementById('fault')"),
            ("a-token-of-some-length", "location.pathname === '/'"),
        ):
            browser.evaluate(f"document.getElementById('token').value = {token!r}")
            click(browser, "form.login button", f"{there} && document.readyState === 'complete'")
            assert serious_violations(browser) == []


def test_the_first_tab_leads_to_the_content(running: Served, browser: Chromium) -> None:
    browser.visit(running.home, 1280, 900)
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.evaluate("document.activeElement.textContent") == "Skip to the content"


def test_a_workload_is_checked_while_it_is_written(running: Served, browser: Chromium) -> None:
    browser.visit(f"{running.home}start", 1280, 900)
    check(browser, running)
    browser.evaluate("""(() => {
      const area = document.getElementById("workload");
      area.value = "kind: e2e\\nlood: <img src=x onerror=alert(1)>";
      area.dispatchEvent(new Event("input"));
    })()""")
    browser.wait_for("document.querySelectorAll('#faults li').length > 0")
    assert "lood: unknown field" in browser.evaluate("document.getElementById('faults').textContent")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    check(browser, running)


@pytest.mark.proof
def test_a_run_is_started_watched_and_stopped(running: Served, browser: Chromium, folder: Path) -> None:
    """With a process that does as a run does; the long version has a real one."""
    browser.visit(f"{running.home}start", 1280, 900)
    browser.evaluate(f"document.getElementById('workload').value = {WORKLOAD!r}")
    browser.evaluate("document.getElementById('tags').value = 'watched-here'")
    click(browser, "form#start button", "location.pathname.startsWith('/started/')")
    # It goes on to the live view by itself, as soon as the run has a name.
    wait_for(lambda: browser.evaluate("location.pathname").endswith("/live"), LONG_S)
    wait_for(lambda: browser.evaluate("Number(document.documentElement.dataset.rows) > 1"), LONG_S)
    before = browser.evaluate("document.querySelector('#facts dd').textContent")
    browser.wait_for(f"document.querySelector('#facts dd').textContent !== {before!r}")
    browser.wait_for("document.querySelectorAll('polyline').length === 7")
    browser.wait_for("document.querySelectorAll('#resources tbody tr').length >= 3")
    check(browser, running)
    name = browser.evaluate("document.querySelector('[data-run]').dataset.run").rpartition("/")[2]
    click(browser, "form[action$=stop] button", "location.pathname.startsWith('/started/')")
    ended = "document.getElementById('state')?.textContent === 'stopped'"
    wait_for(lambda: browser.evaluate(ended), LONG_S)
    assert "what was recorded is kept" in browser.evaluate("document.getElementById('output').textContent")
    check(browser, running)
    browser.visit(f"{running.home}runs/{name}", 1280, 900)
    shown = browser.evaluate("document.body.innerText")
    assert "interrupted" in shown
    assert "watched-here" in shown
    run = RunDir(str(folder / name))
    assert "interrupted" in run.read_text(run.log("output"))
