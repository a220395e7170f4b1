from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.adapters_xml import read_adapters_xml
from streamgauge.gateway.connector.configuration_draft import Draft

PATH = Path("adapters.xml")


def read(text: str) -> Draft:
    return read_adapters_xml(PATH, text.encode())


def test_names_values_and_lines() -> None:
    draft = read(
        """<?xml version="1.0"?>
<!-- a comment -->
<adapters_conf id="Set">
  <metadata_provider>
    <adapter_class>some.Class</adapter_class>
    <param name="logging.configuration.path">log4j.properties</param>
    <param name="max_delay_millis"> 30 </param>
  </metadata_provider>
  <data_provider name="One">
    <adapter_class>some.Class</adapter_class>
    <param name="a.b">x &amp; <![CDATA[<y>]]></param>
  </data_provider>
  <data_provider>
    <param name="c"></param>
  </data_provider>
</adapters_conf>
"""
    )
    assert (draft.adapter_set.value, draft.adapter_set.line) == ("Set", 3)
    assert {n: (e.value, e.line) for n, e in draft.server.entries.items()} == {"max_delay_millis": ("30", 7)}
    one, default = draft.connections["One"], draft.connections["DEFAULT"]
    assert (one.line, one.entries["a.b"].value, one.entries["a.b"].line) == (9, "x & <y>", 11)
    assert (default.line, default.entries["c"].value) == (13, "")


WHOLE = '<adapters_conf id="S">\n{}\n</adapters_conf>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<adapters_conf", ":1: is not well-formed XML: unclosed token"),
        ("", ":1: is not well-formed XML: no element found"),
        ("<a/>", ":1: must begin with <adapters_conf id=…>, not with <a>"),
        ("<adapters_conf/>", ":1: <adapters_conf> needs an id"),
        (WHOLE.format(""), ":1: at least one <data_provider> is required"),
        (WHOLE.format("<x/>"), ":2: <x> is not allowed in <adapters_conf>"),
        (WHOLE.format("<data_provider><x/></data_provider>"), ":2: <x> is not allowed in <data_provider>"),
        (WHOLE.format("<data_provider><param>1</param></data_provider>"), ":2: <param> needs a name"),
        (WHOLE.format("<data_provider>\nhello\n</data_provider>"), "text 'hello' does not belong"),
        (
            WHOLE.format('<data_provider><param name="a"><b/></param></data_provider>'),
            ":2: a: <b> is not allowed in <param>",
        ),
        (
            WHOLE.format(
                '<data_provider>\n<param name="a">1</param>\n<param name="a">2</param></data_provider>'
            ),
            ":4: a: is there twice, first in line 3",
        ),
        (
            WHOLE.format('<data_provider name="A"/>\n<data_provider name="A"/>'),
            ":3: connection 'A' is there twice, first in line 2",
        ),
        ('<!DOCTYPE a [<!ENTITY x "y">]>\n' + WHOLE.format(""), ":1: a document type is not allowed"),
        (
            WHOLE.format("<data_provider>\n</param></data_provider>"),
            ":3: is not well-formed XML: mismatched tag",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(text)
    assert str(refused.value).startswith("adapters.xml:")
    assert says in str(refused.value)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(BadInput, match="not well-formed"):
        read_adapters_xml(PATH, b'<adapters_conf id="\xff">')
