from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from streamgauge.core import entry_points
from streamgauge.core.entry_points import load, points_of
from streamgauge.core.errors import NotInstalled


def test_points_come_in_order_and_the_first_of_a_name_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        EntryPoint("b", "os:path", "g"),
        EntryPoint("a", "os:sep", "g"),
        EntryPoint("b", "os:curdir", "g"),
    ]
    monkeypatch.setattr(entry_points, "entry_points", lambda group: found if group == "g" else [])
    assert [(name, point.value) for name, point in points_of("g").items()] == [
        ("a", "os:sep"),
        ("b", "os:path"),
    ]
    assert points_of("other") == {}


def test_what_is_named_is_loaded() -> None:
    assert load(EntryPoint("a", "os:curdir", "g"), "thing a") == "."


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("no.such:Thing", "is streamgauge installed whole?"),
        ("no.such:Thing [kafka-python]", r"pip install 'streamgauge\[kafka-python\]'"),
    ],
)
def test_a_missing_library_says_what_to_install(value: str, remedy: str) -> None:
    with pytest.raises(NotInstalled, match=f"thing a cannot be loaded: No module named 'no'; .*{remedy}"):
        load(EntryPoint("a", value, "g"), "thing a")
