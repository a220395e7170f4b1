from __future__ import annotations

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
