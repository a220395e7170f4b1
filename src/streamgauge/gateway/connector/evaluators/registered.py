"""Schemas from the registry, each fetched and compiled once.

`prepare` runs in the thread that consumes and may wait; `get` runs on the event loop and only looks up.
A failure is remembered for a while, so that a registry that is gone is not asked for every record.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.schema_registry import (
    RegisteredSchema,
    RegistryFailed,
    SchemaRegistry,
)

LOGGER = logging.getLogger("streamgauge.gateway")
Compiled = TypeVar("Compiled")

_FORGET_OUTAGE_S = 2.0
_FORGET_REFUSAL_S = 30.0


class RegisteredSchemas(Generic[Compiled]):
    """Number → compiled schema."""

    def __init__(
        self,
        registry: SchemaRegistry,
        compile_schema: Callable[[RegisteredSchema], Compiled],
        *,
        serialized: bool = False,
    ) -> None:
        self._registry, self._compile, self._serialized = registry, compile_schema, serialized
        self._compiled: dict[int, Compiled] = {}
        self._failed: dict[int, tuple[str, float]] = {}

    def prepare(self, schema_id: int) -> None:
        if schema_id in self._compiled:
            return
        failure = self._failed.get(schema_id)
        if failure is not None and time.monotonic() < failure[1]:
            return
        try:
            schema = self._registry.fetch(schema_id, serialized=self._serialized)
            self._compiled[schema_id] = self._compile(schema)
            self._failed.pop(schema_id, None)
        except RegistryFailed as error:
            self._fail(schema_id, str(error), _FORGET_REFUSAL_S if error.final else _FORGET_OUTAGE_S)
        except Undecodable as error:
            self._fail(schema_id, str(error), _FORGET_REFUSAL_S)

    def get(self, schema_id: int) -> Compiled:
        """Raises Undecodable with the reason when it could not be had."""
        try:
            return self._compiled[schema_id]
        except KeyError:
            why = self._failed.get(schema_id, ("it was not fetched", 0.0))[0]
            raise Undecodable(f"schema {schema_id} is not to be had: {why}") from None

    def _fail(self, schema_id: int, why: str, forget_after_s: float) -> None:
        LOGGER.warning("schema %d: %s", schema_id, why)
        self._failed[schema_id] = (why, time.monotonic() + forget_after_s)
