"""An evaluator turns the bytes of a key or a value into something that expressions can be read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from streamgauge.gateway.connector.expressions import Expression

Read = Callable[[Any], str | None]
"""The text of one part of what was decoded; raises ExtractionFailed."""
Expand = Callable[[Any], dict[str, str | None]]
"""All parts of one part, by name; raises ExtractionFailed."""


class ExtractionFailed(Exception):
    """What an expression asks for is not in this record. One line."""


class Undecodable(ExtractionFailed):
    """The key or value as a whole is not what the evaluator expects."""


class Evaluator(ABC):
    """Decodes keys or values of one format. Expressions are compiled once, before the first record."""

    blocking = False
    """Whether `prepare` has to be called before `decode`, in a thread that may wait."""

    @abstractmethod
    def decode(self, data: bytes) -> Any:
        """What readers take; raises Undecodable. Never called for null, which stays None."""

    @abstractmethod
    def reader(self, expression: Expression, *, non_scalars: bool) -> Read:
        """The compiled expression. With `non_scalars`, objects and lists become their JSON text."""

    @abstractmethod
    def expander(self, expression: Expression) -> Expand:
        """The compiled wildcard expression."""

    def focus(self, expressions: Sequence[Expression]) -> None:
        """These expressions and no others will be read: what they do not touch need not be decoded."""
        return

    def prepare(self, data: bytes) -> None:
        """Fetch what decoding will need, e.g. a schema; never raises: `decode` says what failed."""
        return
