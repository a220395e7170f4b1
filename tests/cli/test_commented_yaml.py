from __future__ import annotations

import re
from pathlib import Path

import yaml

from streamgauge.cli.commented_yaml import commented


def test_each_field_is_explained_once() -> None:
    plain = "kind: e2e\nname: e2e\ntargets:\n- name: kafka\n  driver: d\nload:\n  message:\n    size: 7\n"
    text = commented(plain, "Made by: me", {"size": "how large"})
    assert yaml.safe_load(text) == yaml.safe_load(plain)
    assert text.startswith("# Made by: me\n# which family of benchmarks this is\nkind: e2e\n")
    assert text.count("# of the workload") == 1
    assert "  # client library\n  driver: d\n" in text
    assert "    # how large\n    size: 7\n" in text
    assert "# objectives:" in text


def test_a_text_of_several_lines_is_left_as_it_is() -> None:
    plain = "kind: e2e\nnote: |\n  a\n  size: of it\n"
    assert commented(plain, "x", {}) == plain


def test_the_page_that_it_leads_to_is_there() -> None:
    named = re.search(r"\((docs/.*\.md)\)", commented("kind: e2e\n", "x", {}))
    assert named is not None
    assert (Path(__file__).parents[2] / named[1]).is_file()
