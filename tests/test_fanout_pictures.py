"""The two pictures of a fan-out: every text has room, in its box and beside the others."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
LETTER = 0.62
"""Of the font's size: what a letter takes on average in the widest of the usual sans-serif fonts."""
MARGIN = 8.0


@dataclass(frozen=True)
class Area:
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Area, margin: float) -> bool:
        return (
            self.left + margin <= other.left
            and other.right <= self.right - margin
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def meets(self, other: Area) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def areas(picture: Path) -> tuple[Area, list[Area], dict[str, Area]]:
    """The whole picture, its boxes, and its texts with where they stand."""
    root = ET.fromstring(picture.read_text())
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    boxes, texts = [], {}
    for number, element in enumerate(root):
        tag, at = re.sub(r"\{.*\}", "", element.tag), element.attrib
        if tag == "rect" and "x" in at:
            x, y = float(at["x"]), float(at["y"])
            boxes.append(Area(x, y, x + float(at["width"]), y + float(at["height"])))
        elif tag == "text":
            size = 12.0 if at.get("class") == "small" else 14.0
            half = len(element.text or "") * size * LETTER / 2
            x, y = float(at["x"]), float(at["y"])
            texts[f"{number} {element.text}"] = Area(x - half, y - size / 2, x + half, y + size / 2)
    return Area(0, 0, width, height), boxes, texts


@pytest.mark.parametrize("name", ["fanout-kafka.svg", "fanout-gateway.svg"])
def test_every_text_has_room(name: str) -> None:
    whole, boxes, texts = areas(DOCS / name)
    assert len(boxes) >= 5
    for text, area in texts.items():
        assert whole.holds(area, MARGIN), f"{text} goes over the edge of the picture"
        own = [box for box in boxes if box.meets(area)]
        assert all(box.holds(area, MARGIN) for box in own), f"{text} is too long for its box"
    for (one, first), (other, second) in combinations(texts.items(), 2):
        assert not first.meets(second), f"{one} stands on {other}"
