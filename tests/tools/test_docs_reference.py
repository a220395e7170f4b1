from __future__ import annotations

import re
from pathlib import Path

from tools.docs_reference import commands_page, workloads_page

from streamgauge.cli.commands import _AFTER, _BEFORE, _of_families
from streamgauge.spec.families import kinds


def test_every_command_is_on_the_page_with_its_flags() -> None:
    page = commands_page()
    for name in (*_BEFORE, *_of_families(), *_AFTER):
        assert f"## `streamgauge {name}`" in page
    assert "### `streamgauge cluster up`" in page
    assert "| `--expect` |" in page


def test_every_family_is_on_the_page_field_by_field() -> None:
    page = workloads_page()
    for kind in kinds():
        assert f"## `kind: {kind}`" in page
    assert "| `warm_up_messages` |" in page


def test_every_field_that_people_write_says_what_it_means() -> None:
    """What importing writes, and what objectives are read into, nobody writes."""
    page = workloads_page()
    parts = re.split(r"^##+ ", page, flags=re.MULTILINE)[1:]
    not_written = ("`kind: imported`", "ImportedWork", "Metric", "Objective")
    faults = [
        f"{part.splitlines()[0]}: {line}"
        for part in parts
        if not part.startswith(not_written)
        for line in part.splitlines()
        if line.startswith("| `") and line.endswith("|  |")
    ]
    assert not faults, "\n".join(faults)
    assert "| What one message is made of. |" in page


def test_no_page_leads_to_pages_that_only_the_site_has() -> None:
    """They are made, and not in the source: on GitHub such a link is dead."""
    docs = Path(__file__).parents[2] / "docs"
    assert [page.name for page in docs.glob("*.md") if "](reference/" in page.read_text("utf-8")] == []
