"""docs/architecture.svg: the rooms in their layers, and who imports whom, drawn from the code itself.

python -m tools.architecture_picture            draws it anew
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"
PACKAGE = "streamgauge"

_WIDTH, _ROW, _BOX, _MARGIN = 960, 84, 40, 24
_FAMILIES = "families"
_CONTRACT = f"{PACKAGE}.spec.family"
"""It names the types of every room for the type checker alone: those are no imports."""


def layers() -> list[list[str]]:
    """As import-linter holds them, from top to bottom."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    [contract] = [
        contract for contract in project["tool"]["importlinter"]["contracts"] if contract["type"] == "layers"
    ]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def imports() -> set[tuple[str, str]]:
    """Which room imports from which."""
    graph = grimp.build_graph(PACKAGE)
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            rooms = _room(module), _room(imported)
            if module != _CONTRACT and rooms[0] != rooms[1] and all(rooms):
                found.add(rooms)
    return found


def _room(module: str) -> str:
    return module.split(".")[1] if module.startswith(f"{PACKAGE}.") else ""


def families() -> list[str]:
    return sorted(
        path.name for path in (ROOT / "src" / PACKAGE / _FAMILIES).iterdir() if (path / "family.py").exists()
    )


def picture() -> str:
    rows, boxes = layers(), {}
    parts = []
    for row, rooms in enumerate(rows):
        y = _MARGIN + row * _ROW
        share = (_WIDTH - 2 * _MARGIN) / len(rooms)
        for place, room in enumerate(rooms):
            width = min(share - 16, 860 if room == _FAMILIES else 220)
            boxes[room] = (_MARGIN + place * share + (share - width) / 2, y, width)
    for importer, imported in sorted(imports()):
        parts.append(_arrow(boxes[importer], boxes[imported]))
    for room, box in boxes.items():
        parts.append(_box(room, box, families() if room == _FAMILIES else []))
    height = 2 * _MARGIN + (len(rows) - 1) * _ROW + _BOX
    style = (
        "rect{fill:#f4f6fa;stroke:#4a5a78;rx:6}.one{fill:#fff;stroke:#9aa6bd}"
        "text{font:14px sans-serif;fill:#1c2536;text-anchor:middle;dominant-baseline:central}"
        ".small{font-size:12px}path{fill:none;stroke:#7f8ea8;stroke-opacity:.35}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            "<title>Rooms of streamgauge: imports go down only</title>",
            f"<style>{style}</style>",
            f'<rect width="{_WIDTH}" height="{height}" style="fill:#fff;stroke:none"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _arrow(importer: tuple[float, float, float], imported: tuple[float, float, float]) -> str:
    (x1, y1, w1), (x2, y2, w2) = importer, imported
    begin, end = (x1 + w1 / 2, y1 + _BOX), (x2 + w2 / 2, y2)
    middle = (begin[1] + end[1]) / 2
    return (
        f'<path d="M{begin[0]:.0f} {begin[1]:.0f} C{begin[0]:.0f} {middle:.0f} '
        f'{end[0]:.0f} {middle:.0f} {end[0]:.0f} {end[1]:.0f}"/>'
    )


def _box(room: str, box: tuple[float, float, float], inside: list[str]) -> str:
    x, y, width = box
    parts = [f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_BOX}"/>']
    if not inside:
        parts.append(f'<text x="{x + width / 2:.0f}" y="{y + _BOX / 2:.0f}">{escape(room)}</text>')
        return "\n".join(parts)
    share = width / (len(inside) + 1)
    parts.append(f'<text x="{x + share / 2:.0f}" y="{y + _BOX / 2:.0f}">{escape(room)}</text>')
    for place, name in enumerate(inside, 1):
        left, middle = x + place * share, y + _BOX / 2
        parts.append(
            f'<rect class="one" x="{left:.0f}" y="{y + 6:.0f}" width="{share - 8:.0f}" height="{_BOX - 12}"/>'
        )
        parts.append(
            f'<text class="small" x="{left + share / 2 - 4:.0f}" y="{middle:.0f}">{escape(name)}</text>'
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PICTURE.write_text(picture())
    print(PICTURE.relative_to(ROOT))
