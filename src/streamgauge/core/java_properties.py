"""Java's properties files: a broker's configuration, and that of clients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_LINE = re.compile(r"((?:[^\\=:\s]|\\.)*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)
_SHORT = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def render(properties: Mapping[str, str]) -> str:
    """The text of a file (which Java reads as Latin-1, hence the escapes)."""
    return "".join(f"{_escape(name)}={_escape(value)}\n" for name, value in properties.items())


def parse(text: str) -> dict[str, str]:
    """What a file says; the last line about a name wins, as in Java."""
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _LINE.fullmatch(line)
        assert match is not None, "every line has a name, if only an empty one"
        found[_plain(match[1])] = _plain(match[2])
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Without comments; a line that ends with a backslash goes on in the next one."""
    begun = ""
    for natural in re.split(r"\r\n|[\r\n]", text):
        line = natural.lstrip(" \t\f")
        if not begun and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun += line[:-1]
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun


def _plain(text: str) -> str:
    def of(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _SHORT.get(match[2], match[2])

    units = _ESCAPED.sub(of, text)
    # What is beyond 16 bits was written as two.
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _escape(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    units = escaped.encode("utf-16-be")
    pairs = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in pairs)
