"""What a `lightstreamer_conf.xml` says that has a meaning here, too.

That file is another server's, with hundreds of elements: the few that are known are taken, the others
passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from streamgauge.core.errors import BadInput

TAKEN = ("default_diff_order", "jsonpatch_min_length", "max_delay_millis")
_ROOT = "lightstreamer_conf"


def read_lightstreamer_conf(path: Path) -> dict[str, str]:
    """Setting of ours → its text there."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    found: dict[str, str] = {}
    open_tags: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, _: dict[str, str]) -> None:
        if not open_tags and tag != _ROOT:
            refuse(f"must begin with <{_ROOT}>, not with <{tag}>")
        open_tags.append(tag)
        if tag in TAKEN:
            found[tag] = ""

    def end(_: str) -> None:
        tag = open_tags.pop()
        if tag in TAKEN:
            found[tag] = found[tag].strip()

    def characters(text: str) -> None:
        if open_tags[-1] in TAKEN:
            found[open_tags[-1]] += text

    def refuse(why: str) -> NoReturn:
        raise BadInput(f"{path}:{parser.CurrentLineNumber}: {why}")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = lambda *_: refuse("a document type is not allowed")
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise BadInput(
            f"{path}:{error.lineno}: is not well-formed XML: {expat.errors.messages[error.code]}"
        ) from None
    return found
