"""The text of a PDF that Chromium printed, page by page: enough to see that what was shown is on paper."""

from __future__ import annotations

import re
import unicodedata
import zlib

_OBJECT = re.compile(rb"(?:^|\n)(\d+) 0 obj(.*?)endobj", re.DOTALL)
_SHOWN = re.compile(rb"/F(\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj|\[(.*?)\] TJ", re.DOTALL)
_SINGLE, _RANGE = re.compile(r"<(\w+)> <(\w+)>"), re.compile(r"<(\w+)> <(\w+)> <(\w+)>")


def pdf_pages(pdf: bytes) -> list[str]:
    """Without the spaces between words, which are places in a PDF."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    letters = {number: _letters(objects, body) for number, body in objects.items() if b"/ToUnicode" in body}
    pages = (body for body in objects.values() if re.search(rb"/Type\s*/Page\b(?!s)", body))
    return [_page_text(objects, body, letters) for body in pages]


def _page_text(objects: dict[int, bytes], page: bytes, letters: dict[int, dict[int, str]]) -> str:
    contents = re.search(rb"/Contents (\d+) 0 R", page)
    assert contents is not None
    found: list[str] = []
    font: dict[int, str] = {}
    for number, text, several in _SHOWN.findall(_stream(objects[int(contents[1])])):
        if number:
            font = letters.get(int(number), {})
        for glyphs in [text] if text else re.findall(rb"<([0-9A-Fa-f]+)>", several):
            codes = (int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4))
            found += [font.get(code, "") for code in codes]
    # Fonts have one glyph for fl and ff.
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", "".join(found)))


def _letters(objects: dict[int, bytes], font: bytes) -> dict[int, str]:
    """Of a font: glyph → letters."""
    reference = re.search(rb"/ToUnicode (\d+) 0 R", font)
    assert reference is not None
    table = _stream(objects[int(reference[1])]).decode("latin-1")
    found: dict[int, str] = {}
    for part in re.findall(r"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        found |= {int(code, 16): _text(to) for code, to in _SINGLE.findall(part)}
    for part in re.findall(r"beginbfrange(.*?)endbfrange", table, re.DOTALL):
        for first, last, to in _RANGE.findall(part):
            begin = int(first, 16)
            found |= {code: chr(int(to, 16) + code - begin) for code in range(begin, int(last, 16) + 1)}
    return found


def _text(encoded: str) -> str:
    return bytes.fromhex(encoded).decode("utf-16-be")


def _stream(body: bytes) -> bytes:
    _, _, rest = body.partition(b"stream")
    data = rest.rpartition(b"endstream")[0].strip(b"\r\n")
    return zlib.decompress(data) if b"/FlateDecode" in body.partition(b"stream")[0] else data
