from __future__ import annotations

import json

from streamgauge.report.markup import Markup, data_table, script_json, tag


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "a < b & c", Markup("<br>"), None) == "<p>a &lt; b &amp; c<br></p>"


def test_attributes_are_escaped() -> None:
    assert tag("a", "x", href='"><script>', class_="k", open=True, id=None) == (
        '<a href="&quot;&gt;&lt;script&gt;" class="k" open>x</a>'
    )


def test_json_cannot_end_its_script() -> None:
    value = {"name": "</script><!--<script>&"}
    text = script_json(value)
    assert "<" not in text
    assert json.loads(text) == value


def test_a_table_has_caption_and_headings() -> None:
    table = data_table("<caption>", ("a", "b"), [("<1>", tag("td", "2", class_="text"))])
    assert "<caption><span>&lt;caption&gt;</span></caption>" in table
    assert '<th scope="row">&lt;1&gt;</th><td class="text">2</td>' in table
