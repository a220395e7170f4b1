"""HTML built so that text can never become markup: all is escaped unless it was made here."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from itertools import zip_longest

_VOID = ("br", "hr", "input", "link", "meta")


class Markup(str):
    """HTML that is safe as it stands."""

    __slots__ = ()


def escape(text: object) -> Markup:
    return text if isinstance(text, Markup) else Markup(html.escape(str(text)))


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """`tag("p", "a < b", class_="note")`. Children and attributes that are None are left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Markup:
    return Markup("".join(escape(child) for child in children if child is not None))


def data_table(
    caption: str,
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    class_: str | None = None,
    row_classes: Sequence[str | None] = (),
) -> Markup:
    """A table in a box of its own, so that a wide one scrolls there and not the page.

    The first cell of a row is its heading.
    """
    head = tag("tr", *(_heading(cell) for cell in header))
    body = [
        tag("tr", tag("th", first, scope="row"), *(cell_of(cell) for cell in rest), class_=row_class)
        for (first, *rest), row_class in zip_longest(rows, row_classes)
    ]
    table = tag(
        "table", tag("caption", tag("span", caption)), tag("thead", head), tag("tbody", *body), class_=class_
    )
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _heading(cell: object) -> Markup:
    """Headings made as `<th>` stay as they are."""
    return cell if isinstance(cell, Markup) and cell.startswith("<th") else tag("th", cell, scope="col")


def cell_of(cell: object) -> Markup:
    """Cells made as `<td>` stay as they are."""
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    return tag("td", cell)


def script_json(value: object) -> Markup:
    """JSON for inside a <script>: `<` cannot end the element or open a comment there."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
