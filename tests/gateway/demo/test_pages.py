from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.gateway.connector.configuration import load_configuration
from streamgauge.gateway.demo import pages
from streamgauge.gateway.demo.pages import demo_pages


def test_the_page_is_told_what_there_is_to_choose_but_not_where_kafka_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "web_client", lambda: b"script")
    path = tmp_path / "gateway.yaml"
    path.write_text(
        """
adapter_set: S
connections:
  Plain:
    bootstrap.servers: kafka.example:9092
    item-template.k: "k-#{b=KEY,a=TOPIC}"
    map.t.to: [item-template.k, all]
    field: {v: "#{VALUE}", "*": "#{HEADERS.*}"}
  List: {bootstrap.servers: "x:1", map.t.to: i, field.key: "#{KEY}", fields.auto.command.mode.enable: true}
  Off: {bootstrap.servers: "x:1", map.t.to: i, field.v: "#{VALUE}", enable: false}
"""
    )
    found = demo_pages(load_configuration(path))
    assert set(found) == {"/", "/demo.css", "/demo.js", "/demo.json", "/lightstreamer.js"}
    assert json.loads(found["/demo.json"].body) == {
        "adapterSet": "S",
        "guarded": False,
        "connections": {
            "Plain": {"items": ["all", "k-[a=…,b=…]"], "fields": ["v"], "mode": "MERGE"},
            "List": {"items": ["i"], "fields": ["key", "command"], "mode": "COMMAND"},
        },
    }
    assert not any(b"kafka.example" in page.body for page in found.values())
    assert found["/lightstreamer.js"].body == b"script"


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    folder = Path(pages.__file__).parent
    for name in ("demo.html", "demo.css", "demo.js"):
        text = (folder / name).read_text()
        assert "http://" not in text
        assert "https://" not in text
        assert "innerHTML" not in text
