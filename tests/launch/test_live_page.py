from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from streamgauge.launch.live_page import LivePage


def test_the_page_and_its_figures_are_served_on_this_machine_alone() -> None:
    page = LivePage(lambda: {"run": "r1", "cases": []})
    try:
        assert page.address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(page.address, timeout=10) as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/html")
        # Nothing comes from elsewhere: a machine that measures may have no way out.
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text
        with urllib.request.urlopen(page.address + "live.json", timeout=10) as answer:
            assert json.load(answer) == {"run": "r1", "cases": []}
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(page.address + "../secret", timeout=10)
        caught.value.close()
        assert caught.value.code == 404
    finally:
        page.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(page.address, timeout=10)
