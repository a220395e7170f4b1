"""axe-core on the page that a browser shows: what keeps people with a screen reader or a keyboard out."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from tests.report.chromium import Chromium

_RUN = """
axe.run(document, {resultTypes: ["violations"], iframes: false}).then(found => found.violations
  .filter(each => ["serious", "critical"].includes(each.impact))
  .map(each => `${each.id}: ${each.nodes.map(node => node.target.join(" ")).join(", ")}`))
"""


@cache
def _source() -> str:
    return resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")


def violations_of(page: str, folder: Path) -> list[str]:
    """Of a page that is a file by itself, with everything on it open."""
    file = folder / "page.html"
    file.write_text(page, "utf-8")
    with Chromium(folder / "profile") as browser:
        browser.open(file, 1280, 60_000)
        browser.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
        browser.wait_for(
            "document.documentElement.dataset.drawn === document.documentElement.dataset.figures"
        )
        assert browser.troubles() == []
        return serious_violations(browser)


def serious_violations(browser: Chromium) -> list[str]:
    """Pages in frames are looked at by themselves."""
    browser.evaluate(f"{_source()}; 0")
    found: list[str] = browser.evaluate(_RUN)
    return found
