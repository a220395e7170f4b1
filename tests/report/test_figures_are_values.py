"""Figures say what there is to see; how it is drawn is known to renderers alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path

import pytest

import streamgauge
from streamgauge.core.run_dir import RunDir
from streamgauge.report.shown import Figures

from .seen import shown

SOURCES = Path(streamgauge.__file__).parent
DRAWING = re.compile(r"matplotlib|svg|data_figure|byDecades|line-\{|var\(--|pixel", re.IGNORECASE)
RENDERERS = {"page_frame", "pictures", "figure_values"}
NAMES_OF_FILES = {"plots", "gnuplot"}
"""They name a picture's file, and draw nothing."""


def modules() -> list[Path]:
    report = [
        path for path in (SOURCES / "report").rglob("*.py") if path.stem not in RENDERERS | NAMES_OF_FILES
    ]
    return sorted([*(SOURCES / "families").rglob("*.py"), *report])


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_family_and_no_document_knows_how_figures_are_drawn(module: Path) -> None:
    assert not DRAWING.findall(module.read_text())


def test_the_renderers_do_know() -> None:
    for name in RENDERERS:
        assert DRAWING.search((SOURCES / "report" / f"{name}.py").read_text()), name


def values(value: object) -> Iterator[object]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from values(getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from values(item)
    else:
        yield value


@pytest.mark.parametrize("run", ["one_case", "sweep"])
def test_figures_are_made_of_typed_values(run: str, request: pytest.FixtureRequest) -> None:
    example: RunDir = request.getfixturevalue(run)
    blocks = [block for section in shown(example).sections for block in section.blocks]
    figures = [figure for block in blocks if isinstance(block, Figures) for figure in block.figures]
    assert figures
    found = list(values(figures))
    assert not [value for value in found if isinstance(value, Mapping)]
    assert {type(value) for value in found if not isinstance(value, Enum)} <= {
        int,
        float,
        str,
        bool,
        type(None),
    }
