"""What reaches beyond a workload is known by the types of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from streamgauge.spec.families import all_families
from streamgauge.spec.model import SpecModel
from streamgauge.spec.reach import (
    FileName,
    JavaOptions,
    NativeSettings,
    ProgramFile,
    Reach,
    _reach_of,
    reached,
)


class Inner(SpecModel):
    lines: FileName = ""


class Outer(SpecModel):
    program: ProgramFile | None = None
    options: JavaOptions = ()
    there: Path | None = None
    native: NativeSettings = {}
    inner: tuple[Inner, ...] = ()
    free: dict[str, Any] = {}
    words: dict[str, str] = {}
    name: str = "plain"


def found(**content: Any) -> dict[str, Reach]:
    return dict(reached(Outer.model_validate(content), "it"))


def test_what_is_as_usual_reaches_nowhere() -> None:
    assert found() == {}
    assert found(program=None, options=[], native={}, name="other") == {}


@pytest.mark.parametrize(
    ("content", "place", "reach"),
    [
        ({"program": "/bin/sh"}, "it.program", Reach.PROGRAM),
        ({"options": ["-Xmx1g"]}, "it.options", Reach.JAVA),
        ({"there": "/etc"}, "it.there", Reach.FILE),
        ({"inner": [{}, {"lines": "a.txt"}]}, "it.inner.1.lines", Reach.FILE),
        ({"free": {"a.lines": "a.txt"}}, "it.free.a.lines", Reach.FILE),
        ({"free": {"a": [{"lines": "a.txt"}]}}, "it.free.a.0.lines", Reach.FILE),
        ({"native": {"x.location": "here"}}, "it.native.x.location", Reach.NATIVE),
    ],
)
def test_each_way_out_is_found_by_its_place(content: dict[str, Any], place: str, reach: Reach) -> None:
    assert found(**content) == {place: reach}


@pytest.mark.parametrize("value", ["a/b", "..\\\\x", "1\nloadmodule x", "file:x'", '"x"', "$(reboot)", "`x`"])
def test_a_native_value_that_is_not_plain_is_found(value: str) -> None:
    assert found(native={"some.name": value}) == {"it.native.some.name": Reach.NATIVE}


@pytest.mark.parametrize("value", [5, 0.5, True, "lz4", "${PASSWORD}", "a,b", "host:9092", "5 min"])
def test_a_plain_native_value_is_not(value: Any) -> None:
    assert found(native={"some.name": value}) == {}


def test_typed_words_are_what_they_are() -> None:
    assert found(words={"lines": "a/b"}) == {}


_LOOKS_LIKE = re.compile(
    r"(^|_)(file|path|dir|directory|folder|executable|program|command|options|ca|lines_of)s?$"
)


def _models() -> Iterator[type[BaseModel]]:
    """All that a workload may be made of here."""
    seen: set[type[BaseModel]] = set()
    waiting: list[Any] = [family.workload_model() for family in all_families()]
    waiting += [point.load().settings_model for point in entry_points(group="streamgauge.drivers")]
    for group in ("streamgauge.systems", "streamgauge.faults"):
        waiting += [point.load().spec_model for point in entry_points(group=group)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, type) and issubclass(each, BaseModel) and each not in seen:
            seen.add(each)
            waiting += [info.annotation for info in each.model_fields.values()]
            yield each
        waiting += get_args(each)


def test_no_field_that_looks_like_a_way_out_is_without_its_mark() -> None:
    """A new field of that kind says so in its type, and needs nothing more to be refused from a page."""
    looking = [
        (model, name, info)
        for model in _models()
        for name, info in model.model_fields.items()
        if _LOOKS_LIKE.search(name)
    ]
    assert {name for _, name, _ in looking} >= {"executable", "java_options", "directory", "lines_of", "ca"}
    assert [f"{model.__name__}.{name}" for model, name, info in looking if _reach_of(info) is None] == []
