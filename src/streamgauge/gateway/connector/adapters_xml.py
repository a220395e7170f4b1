"""Reading `adapters.xml`, the connector's own form of configuration."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration_draft import Block, Draft, Entry

DEFAULT_CONNECTION = "DEFAULT"
_ROOT, _SERVER, _CONNECTION = "adapters_conf", "metadata_provider", "data_provider"
# What the Java server is told there, and has no meaning here.
_PASSED_OVER = frozenset(
    {
        "adapter_class",
        "install_dir",
        "classloader",
        "messages_pool",
        "authentication_pool",
        "data_adapter_pool",
    }
)
_OF_JAVA = frozenset({"logging.configuration.path", "logging.configuration.file"})


def read_adapters_xml(path: Path, content: bytes) -> Draft:
    return _Reader(path).read(content)


class _Reader:
    """Walks the file with expat, which knows the line it is in."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.buffer_text = True
        self._draft: Draft | None = None
        self._block: Block | None = None
        self._open: list[str] = []
        self._name, self._name_line, self._text = "", 0, ""

    def read(self, content: bytes) -> Draft:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise BadInput(
                f"{self._path}:{error.lineno}: is not well-formed XML: {expat.errors.messages[error.code]}"
            ) from None
        assert self._draft is not None
        if not self._draft.connections:
            self._refuse(f"at least one <{_CONNECTION}> is required", self._draft.adapter_set.line)
        return self._draft

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        inside = self._open[-1] if self._open else None
        self._open.append(tag)
        if inside is None:
            self._start_root(tag, attributes)
        elif inside == _ROOT:
            self._start_block(tag, attributes)
        elif inside in (_SERVER, _CONNECTION) and tag == "param":
            self._name, self._name_line, self._text = attributes.get("name", ""), self._line(), ""
            if not self._name:
                self._refuse("<param> needs a name")
        elif inside in (_SERVER, _CONNECTION) and tag not in _PASSED_OVER:
            self._refuse(f"<{tag}> is not allowed in <{inside}>; allowed: <param name=…>")
        elif inside == "param":
            self._refuse(f"{self._name}: <{tag}> is not allowed in <param>")

    def _start_root(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != _ROOT:
            self._refuse(f"must begin with <{_ROOT} id=…>, not with <{tag}>")
        if not attributes.get("id"):
            self._refuse(f"<{_ROOT}> needs an id: the adapter set that clients name")
        line = self._line()
        self._draft = Draft(self._path, Entry(attributes["id"], line), Block(self._path, line))

    def _start_block(self, tag: str, attributes: dict[str, str]) -> None:
        assert self._draft is not None
        if tag == _SERVER:
            self._block = self._draft.server
            self._block.line = self._line()
        elif tag == _CONNECTION:
            name = attributes.get("name") or DEFAULT_CONNECTION
            self._block = self._draft.add_connection(name, self._line())
        elif tag not in _PASSED_OVER:
            self._refuse(f"<{tag}> is not allowed in <{_ROOT}>; allowed: <{_SERVER}> and <{_CONNECTION}>")

    def _end(self, tag: str) -> None:
        self._open.pop()
        inside = self._open[-1] if self._open else None
        if tag == "param" and inside in (_SERVER, _CONNECTION):
            assert self._block is not None
            if inside == _CONNECTION or self._name not in _OF_JAVA:
                self._block.add(self._name, self._text.strip(), self._name_line)
            self._name = ""

    def _characters(self, text: str) -> None:
        if self._open[-1] == "param":
            self._text += text
        elif text.strip() and self._open[-1] in (_ROOT, _SERVER, _CONNECTION):
            self._refuse(f"text {text.strip()!r} does not belong in <{self._open[-1]}>")

    def _doctype(self, *_: object) -> NoReturn:
        self._refuse("a document type is not allowed")

    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _refuse(self, why: str, line: int | None = None) -> NoReturn:
        raise BadInput(f"{self._path}:{line or self._line()}: {why}")
