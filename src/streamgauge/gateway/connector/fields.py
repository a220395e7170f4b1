"""Records → fields: what a client sees of a record."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.gateway.connector.evaluators.contract import (
    Expand,
    ExtractionFailed,
    Read,
    Undecodable,
)
from streamgauge.gateway.connector.expressions import Expression, Root
from streamgauge.gateway.connector.records import NODES, Compiler, Node, Record

Fields = dict[str, str | None]


class FieldMapping:
    """The fields of one connection, compiled; those of one root are read together, from one decoded tree."""

    def __init__(
        self,
        fields: Mapping[str, Expression],
        wildcard: Expression | None,
        compiler: Compiler,
        *,
        skip_failed: bool,
    ) -> None:
        self._skip_failed = skip_failed
        self._groups = _by_root(fields, compiler)
        self._expand: tuple[Node, Expand] | None = None
        if wildcard is not None:
            self._expand = (NODES[wildcard.root], compiler.expander(wildcard))

    def __call__(self, record: Record) -> Fields:
        """Raises ExtractionFailed; with `skip_failed` only when a key or value cannot be decoded at all."""
        if self._skip_failed:
            return self._those_there(record)
        found = self._expand[1](self._expand[0](record)) if self._expand is not None else {}
        for node_of, readers in self._groups:
            node = node_of(record)
            for name, read in readers:
                found[name] = read(node)
        return found

    def _those_there(self, record: Record) -> Fields:
        found: Fields = {}
        if self._expand is not None:
            try:
                found = self._expand[1](self._expand[0](record))
            except Undecodable:
                raise
            except ExtractionFailed:
                pass
        for node_of, readers in self._groups:
            node = node_of(record)
            for name, read in readers:
                try:
                    found[name] = read(node)
                except ExtractionFailed:
                    continue
        return found


def _by_root(
    fields: Mapping[str, Expression], compiler: Compiler
) -> list[tuple[Node, list[tuple[str, Read]]]]:
    groups: dict[Root, list[tuple[str, Read]]] = {}
    for name, expression in fields.items():
        groups.setdefault(expression.root, []).append((name, compiler.reader(expression)))
    return [(NODES[root], readers) for root, readers in groups.items()]
