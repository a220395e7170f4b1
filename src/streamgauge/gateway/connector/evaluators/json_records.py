"""JSON: an object at the top, checked against a schema if there is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import orjson

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.evaluators.trees import TreeEvaluator
from streamgauge.gateway.connector.schema_registry import without_schema_id

Check = Callable[[Any], object]


class JsonEvaluator(TreeEvaluator):
    """With `from_registry`, records carry a schema's number in front; JSON is read without the schema."""

    def __init__(self, *, check: Check | None = None, from_registry: bool = False) -> None:
        self._check, self._from_registry = check, from_registry

    def decode(self, data: bytes) -> Any:
        text = without_schema_id(data) if self._from_registry else data
        try:
            tree = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise Undecodable(f"not JSON: {error}") from None
        if type(tree) is not dict:
            raise Undecodable("JSON must be an object at its top")
        if self._check is not None:
            try:
                self._check(tree)
            except fastjsonschema.JsonSchemaValueException as error:
                raise Undecodable(f"not what its JSON schema says: {error.message}") from None
            except RecursionError:
                raise Undecodable("nested too deep for its JSON schema") from None
        return tree


def load_json_schema(path: Path) -> Check:
    try:
        schema = orjson.loads(path.read_bytes())
        # A validator must not fill in what a record leaves out.
        check: Check = fastjsonschema.compile(schema, use_default=False)
        return check
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except (
        orjson.JSONDecodeError,
        fastjsonschema.JsonSchemaDefinitionException,
        AttributeError,
        TypeError,
    ) as error:
        raise BadInput(f"{path}: is no JSON schema: {' '.join(str(error).split())}") from None
