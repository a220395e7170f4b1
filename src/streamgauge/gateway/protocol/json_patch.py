"""JSON Patch (RFC 6902), the `^P` form of a value: making one, and applying any.

The patch made is sound, not the shortest: objects are compared by key, arrays by position after what both
have in front and behind. Types count: 1, 1.0 and true are equal in Python, and not the same in JSON.
"""

from __future__ import annotations

import copy
import re
from typing import Any

import orjson

Json = Any
"""What orjson makes of a document."""

_INEXACT = re.compile(rb"[:\[,\s-]\d{16,}")
"""A whole number that JavaScript would round, should it have to write the document anew."""


class NotPatchable(ValueError):
    """A text that is no JSON object or array, or one that a client might spoil by parsing it."""


def parse(text: str) -> Json:
    """The document that a patch can start from or lead to; raises NotPatchable."""
    if text[:1] not in ("{", "["):
        raise NotPatchable("neither an object nor an array")
    try:
        raw = text.encode()
        document = orjson.loads(raw)
    except ValueError as error:
        raise NotPatchable(str(error)) from error
    if _INEXACT.search(raw):
        raise NotPatchable("it has whole numbers of 16 digits or more")
    return document


def is_document(text: str) -> bool:
    """Whether a patch could have led to this value."""
    try:
        parse(text)
    except NotPatchable:
        return False
    return True


def diff(old: Json, new: Json) -> bytes | None:
    """The patch as JSON; None when the documents are nested too deep to compare."""
    operations: list[dict[str, Json]] = []
    try:
        _compare("", old, new, operations)
        return orjson.dumps(operations)
    except (RecursionError, orjson.JSONEncodeError):
        return None


def apply(document: Json, operations: Json) -> Json:
    """The patched document; the one given is left as it is. ValueError for a patch that does not fit."""
    document = copy.deepcopy(document)
    if not isinstance(operations, list):
        raise ValueError("a JSON Patch is an array of operations")
    for operation in operations:
        try:
            document = _applied(document, operation)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ValueError(f"a JSON Patch operation does not fit: {error}") from error
    return document


def _compare(path: str, old: Json, new: Json, operations: list[dict[str, Json]]) -> None:
    if type(old) is not type(new):
        operations.append({"op": "replace", "path": path, "value": new})
    elif isinstance(old, dict):
        _compare_objects(path, old, new, operations)
    elif isinstance(old, list):
        _compare_arrays(path, old, new, operations)
    elif old != new or (isinstance(old, float) and repr(old) != repr(new)):  # 0.0 equals -0.0
        operations.append({"op": "replace", "path": path, "value": new})


def _compare_objects(
    path: str, old: dict[str, Json], new: dict[str, Json], operations: list[dict[str, Json]]
) -> None:
    for key in old:
        if key not in new:
            operations.append({"op": "remove", "path": f"{path}/{_escaped(key)}"})
    for key, value in new.items():
        if key not in old:
            operations.append({"op": "add", "path": f"{path}/{_escaped(key)}", "value": value})
        else:
            before = old[key]
            # Most values are texts that did not change.
            if type(before) is str and before == value:
                continue
            _compare(f"{path}/{_escaped(key)}", before, value, operations)


def _compare_arrays(path: str, old: list[Json], new: list[Json], operations: list[dict[str, Json]]) -> None:
    if len(old) == len(new):
        for index, (before, value) in enumerate(zip(old, new, strict=True)):
            _compare(f"{path}/{index}", before, value, operations)
        return
    # Written out, elements compare with their types.
    before_texts, new_texts = [orjson.dumps(e) for e in old], [orjson.dumps(e) for e in new]
    shortest = min(len(old), len(new))
    front = 0
    while front < shortest and before_texts[front] == new_texts[front]:
        front += 1
    behind = 0
    while behind < shortest - front and before_texts[-1 - behind] == new_texts[-1 - behind]:
        behind += 1
    both = shortest - front - behind
    for index in range(front, front + both):
        _compare(f"{path}/{index}", old[index], new[index], operations)
    for index in range(len(old) - behind - 1, front + both - 1, -1):
        operations.append({"op": "remove", "path": f"{path}/{index}"})
    for index in range(front + both, len(new) - behind):
        operations.append({"op": "add", "path": f"{path}/{index}", "value": new[index]})


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def _steps(pointer: str) -> list[str]:
    if not pointer:
        return []
    if pointer[0] != "/":
        raise ValueError("a JSON pointer begins with a slash")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def _applied(document: Json, operation: dict[str, Json]) -> Json:
    steps = _steps(operation["path"])
    match operation["op"]:
        case "add":
            return _added(document, steps, operation["value"])
        case "remove":
            _, document = _removed(document, steps)
            return document
        case "replace":
            return _replaced(document, steps, operation["value"])
        case "move":
            value, document = _removed(document, _steps(operation["from"]))
            return _added(document, steps, value)
        case "copy":
            return _added(document, steps, copy.deepcopy(_at(document, _steps(operation["from"]))))
        case "test":
            if orjson.dumps(_at(document, steps), option=orjson.OPT_SORT_KEYS) != orjson.dumps(
                operation["value"], option=orjson.OPT_SORT_KEYS
            ):
                raise ValueError("a test in a JSON Patch failed")
            return document
        case _:
            raise ValueError("an operation that JSON Patch does not have")


def _at(document: Json, steps: list[str]) -> Json:
    for step in steps:
        document = document[_index(step, len(document) - 1)] if isinstance(document, list) else document[step]
    return document


def _added(document: Json, steps: list[str], value: Json) -> Json:
    if not steps:
        return value
    parent, last = _at(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent)), value)
    else:
        parent[last] = value
    return document


def _replaced(document: Json, steps: list[str], value: Json) -> Json:
    if not steps:
        return value
    parent, last = _at(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        parent[_index(last, len(parent) - 1)] = value
    elif last in parent:
        parent[last] = value
    else:
        raise KeyError(last)
    return document


def _removed(document: Json, steps: list[str]) -> tuple[Json, Json]:
    if not steps:
        return document, None
    parent, last = _at(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        return parent.pop(_index(last, len(parent) - 1)), document
    return parent.pop(last), document


def _index(step: str, largest: int) -> int:
    if not (step.isascii() and step.isdigit()) or (len(step) > 1 and step[0] == "0") or int(step) > largest:
        raise IndexError(f"there is no element {step!r}")
    return int(step)
