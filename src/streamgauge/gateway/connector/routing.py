"""Records → items: which of the subscribed items a record belongs to.

Every template keeps the items that are subscribed under the values of their parameters. A record costs
one look-up a template of its topic, however many items are subscribed; a template that nobody has
subscribed costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from streamgauge.gateway.connector.evaluators.contract import Read
from streamgauge.gateway.connector.items import Item, Template, parse_item
from streamgauge.gateway.connector.records import NODES, Compiler, Node, Record

Values = str | tuple[str, ...]


class Index:
    """One template, and who subscribed to it."""

    def __init__(self, template: Template, compiler: Compiler) -> None:
        self.template = template
        # Parameters of an item are plain values, whatever fields may be.
        self._readers: list[tuple[Node, Read]] = [
            (NODES[e.root], compiler.reader(e, non_scalars=False)) for e in template.expressions
        ]
        self.subscribed: dict[Values, tuple[str, ...]] = {}

    def find(self, record: Record) -> tuple[str, ...]:
        """The subscribed items with the record's values; raises ExtractionFailed."""
        if len(self._readers) == 1:
            node_of, read = self._readers[0]
            value = read(node_of(record))
            return self.subscribed.get(value, ()) if value is not None else ()
        values = tuple([read(node_of(record)) for node_of, read in self._readers])
        return self.subscribed.get(values, ())  # type: ignore[arg-type]  # None is never a key.

    def add(self, name: str, item: Item) -> None:
        values = _key(item)
        self.subscribed[values] = (*self.subscribed.get(values, ()), name)

    def remove(self, name: str, item: Item) -> None:
        values = _key(item)
        left = tuple(other for other in self.subscribed.get(values, ()) if other != name)
        if left:
            self.subscribed[values] = left
        else:
            self.subscribed.pop(values, None)


class Routes:
    """All templates of a connection, by topic and by what items look like."""

    def __init__(
        self, topics: Mapping[str, Sequence[Template]], compiler: Compiler, *, topics_are_patterns: bool
    ) -> None:
        indexes: dict[Template, Index] = {}
        self._indexes: dict[str, list[Index]] = {}
        for topic, templates in topics.items():
            for template in templates:
                index = indexes.setdefault(template, Index(template, compiler))
                self._indexes.setdefault(topic, []).append(index)
        self._of_shape: dict[tuple[str, tuple[str, ...]], list[Index]] = {}
        for template, index in indexes.items():
            self._of_shape.setdefault((template.prefix, template.names), []).append(index)
        self._patterns = [re.compile(topic) for topic in topics] if topics_are_patterns else None
        self._of_topic: dict[str, list[Index]] = {} if topics_are_patterns else dict(self._indexes)
        self._items: dict[str, Item] = {}

    def __len__(self) -> int:
        """How many items are subscribed."""
        return len(self._items)

    def items(self) -> list[str]:
        """Those that are subscribed."""
        return list(self._items)

    def can_be(self, name: str) -> bool:
        """Whether such an item fits a template."""
        try:
            return self._shape(parse_item(name)) in self._of_shape
        except ValueError:
            return False

    def add(self, name: str) -> None:
        """Raises ValueError when the item fits no template."""
        item = parse_item(name)
        indexes = self._of_shape.get(self._shape(item))
        if indexes is None:
            raise ValueError(f"item {name!r} does not match any of the defined item templates")
        if name not in self._items:
            self._items[name] = item
            for index in indexes:
                index.add(name, item)

    def remove(self, name: str) -> None:
        item = self._items.pop(name, None)
        if item is not None:
            for index in self._of_shape[self._shape(item)]:
                index.remove(name, item)

    def items_of(self, record: Record) -> Sequence[str]:
        """The subscribed items the record belongs to, each once; raises ExtractionFailed."""
        topic = record.message.topic()
        indexes = self._of_topic.get(topic)
        if indexes is None:
            indexes = self._indexes_of_new(topic)
        if len(indexes) == 1:
            return indexes[0].find(record) if indexes[0].subscribed else ()
        found: dict[str, None] = {}
        for index in indexes:
            if index.subscribed:
                found.update(dict.fromkeys(index.find(record)))
        return tuple(found)

    def _indexes_of_new(self, topic: str) -> list[Index]:
        found: dict[Index, None] = {}
        for pattern in self._patterns or ():
            if pattern.fullmatch(topic):
                found.update(dict.fromkeys(self._indexes[pattern.pattern]))
        self._of_topic[topic] = list(found)
        return self._of_topic[topic]

    @staticmethod
    def _shape(item: Item) -> tuple[str, tuple[str, ...]]:
        return item.prefix, item.names


def _key(item: Item) -> Values:
    return item.values[0] if len(item.values) == 1 else item.values
