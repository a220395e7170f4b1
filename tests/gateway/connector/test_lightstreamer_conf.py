from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.lightstreamer_conf import read_lightstreamer_conf


def test_what_has_a_meaning_here_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "lightstreamer_conf.xml"
    path.write_text(
        "<?xml version='1.0'?>\n<lightstreamer_conf>\n<http_server name='x'><port>8080</port></http_server>\n"
        "<!-- <max_delay_millis>99</max_delay_millis> -->\n"
        "<global_settings><default_diff_order> jsonpatch </default_diff_order></global_settings>\n"
        "<jsonpatch_min_length>500</jsonpatch_min_length>\n</lightstreamer_conf>"
    )
    assert read_lightstreamer_conf(path) == {"default_diff_order": "jsonpatch", "jsonpatch_min_length": "500"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<a/>", ":1: must begin with <lightstreamer_conf>, not with <a>"),
        ("<lightstreamer_conf>\n<a>", ":2: is not well-formed XML"),
        ("", "is not well-formed XML"),
        ("<!DOCTYPE x>\n<lightstreamer_conf/>", ":1: a document type is not allowed"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "l.xml"
    path.write_text(content)
    with pytest.raises(BadInput) as refused:
        read_lightstreamer_conf(path)
    assert says in str(refused.value)
    with pytest.raises(BadInput, match=r"none\.xml: cannot be read"):
        read_lightstreamer_conf(tmp_path / "none.xml")
