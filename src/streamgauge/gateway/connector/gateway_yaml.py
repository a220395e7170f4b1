"""Reading `gateway.yaml`: the same parameters as in `adapters.xml`; dots in a name may be nesting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.configuration_draft import Block, Draft, Entry

_TOP = ("adapter_set", "server", "connections")
_DEFAULT_ADAPTER_SET = "KafkaConnector"


def read_gateway_yaml(path: Path, content: bytes) -> Draft:
    root = _compose(path, content)
    if not isinstance(root, yaml.MappingNode):
        raise BadInput(f"{path}:1: must be a mapping with {', '.join(_TOP)}")
    draft = Draft(path, Entry(_DEFAULT_ADAPTER_SET, 1), Block(path, 1))
    for name, value, line in _pairs(path, root):
        if name == "adapter_set":
            draft.adapter_set = Entry(_scalar(path, name, value, line), line)
        elif name == "server":
            draft.server.line = line
            _fill(draft.server, _mapping(path, name, value, line), "")
        elif name == "connections":
            for connection, parameters, at in _pairs(path, _mapping(path, name, value, line)):
                block = draft.add_connection(connection, at)
                _fill(block, _mapping(path, f"connections.{connection}", parameters, at), "")
        else:
            raise BadInput(f"{path}:{line}: {name}: is not known here; allowed: {', '.join(_TOP)}")
    if not draft.connections:
        raise BadInput(f"{path}:1: connections: at least one is required")
    return draft


def _compose(path: Path, content: bytes) -> Any:
    try:
        return yaml.compose(content.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise BadInput(f"{path}:{line}: is not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise BadInput(f"{path}: is not valid YAML: {' '.join(str(error).split())}") from None


def _fill(block: Block, mapping: Any, prefix: str) -> None:
    for name, value, line in _pairs(block.path, mapping):
        if isinstance(value, yaml.MappingNode):
            _fill(block, value, f"{prefix}{name}.")
        elif isinstance(value, yaml.SequenceNode):
            parts = [_scalar(block.path, prefix + name, part, line) for part in value.value]
            block.add(prefix + name, parts, line)
        else:
            block.add(prefix + name, _scalar(block.path, prefix + name, value, line), line)


def _pairs(path: Path, mapping: Any) -> Iterator[tuple[str, Any, int]]:
    """Name, node and line; a YAML loader would let the last of two equal names win in silence."""
    seen: dict[str, int] = {}
    for key, value in mapping.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise BadInput(f"{path}:{line}: a name must be plain text")
        if key.value in seen:
            raise BadInput(f"{path}:{line}: {key.value}: is there twice, first in line {seen[key.value]}")
        seen[key.value] = line
        yield key.value, value, line


def _mapping(path: Path, name: str, node: Any, line: int) -> Any:
    if not isinstance(node, yaml.MappingNode):
        raise BadInput(f"{path}:{line}: {name}: must be a mapping")
    return node


def _scalar(path: Path, name: str, node: Any, line: int) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise BadInput(f"{path}:{line}: {name}: must be a plain value or a list of them")
    try:
        value = yaml.SafeLoader("").construct_object(node)
    except ValueError:  # A date that there is not.
        value = None
    if value is None or not isinstance(value, str | int | float | bool):
        raise BadInput(f"{path}:{line}: {name}: must be text, a number, true or false; put it in quotes?")
    return value
