from __future__ import annotations

from tools.architecture_picture import PICTURE, families, imports, layers, picture

from streamgauge.spec.families import kinds


def test_the_picture_in_the_docs_is_of_this_code() -> None:
    assert PICTURE.read_text() == picture(), "run: python -m tools.architecture_picture"


def test_every_import_goes_down() -> None:
    height = {room: row for row, rooms in enumerate(layers()) for room in rooms}
    found = imports()
    assert ("cli", "core") in found
    assert all(height[importer] < height[imported] for importer, imported in found)


def test_every_family_is_in_it() -> None:
    assert families() == kinds()
