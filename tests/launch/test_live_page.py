from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from streamgauge.launch.live_figures import LiveFigures
from streamgauge.launch.live_page import LivePage
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.workload import Workload

from ..report.chromium import Chromium
from .test_live_figures import second

HOSTILE = "<img src=x onerror=alert(1)>"


def test_the_page_and_its_figures_are_served_on_this_machine_alone() -> None:
    page = LivePage(lambda: {"run": "r1", "cases": []})
    try:
        assert page.address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(page.address, timeout=60) as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/html")
        # Nothing comes from elsewhere: a machine that measures may have no way out.
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text
        with urllib.request.urlopen(page.address + "live.json", timeout=60) as answer:
            assert json.load(answer) == {"run": "r1", "cases": []}
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(page.address + "../secret", timeout=60)
        caught.value.close()
        assert caught.value.code == 404
    finally:
        page.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(page.address, timeout=60)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_page_follows_the_run_in_a_browser(tmp_path: Path, width: int, scheme: str) -> None:
    target = {"name": "k", "driver": "kafka_confluent"}
    workload = Workload.model_validate({"targets": [target], "load": {"messages": 5000}})
    [case] = list(make_plan(workload, "run").cases)
    figures = LiveFigures(HOSTILE, 1)
    page = LivePage(figures.document)
    try:
        with Chromium(tmp_path / "chromium") as browser:
            browser.visit(page.address, width, 1200, scheme, phone=width < 500)
            assert browser.evaluate("at('state').textContent") == "waiting for the first figures"
            figures.begin(case)
            for number in range(8):
                figures.add(second(number, 500, {2: 480, 30: 10, 200: 1}))
            browser.wait_for("document.querySelectorAll('polyline').length === 5")
            shown = browser.evaluate("document.body.innerText")
            for words in ("4,000", "sent of 5,000", "3,928", "30.0 ms", "200 ms", HOSTILE):
                assert words in shown
            assert browser.evaluate("document.querySelectorAll('img').length") == 0
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            figures.ended = "the run has ended"
            browser.wait_for("at('state').textContent === 'the run has ended'")
            assert browser.outside(page.address) == []
    finally:
        page.close()
