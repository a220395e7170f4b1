"""What in a workload reaches beyond it: to a file of the machine that runs it, to a program, into Java.

Whoever writes a workload on that machine may do so; a stranger may not. A field says so in its type; one of
type Path need not. Native settings are free, so there names and values tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from streamgauge.spec.model import Setting


class Reach(Enum):
    FILE = "names a file"
    PROGRAM = "names a program"
    JAVA = "holds options of Java"
    NATIVE = "may name a file, a program or a class"


FileName = Annotated[str, Reach.FILE]
"""Also of a folder."""
ProgramFile = Annotated[str, Reach.PROGRAM]
JavaOptions = Annotated[tuple[str, ...], Reach.JAVA]
NativeSettings = Annotated[dict[str, Setting], Reach.NATIVE]
"""Handed on as they are to a client library or a server."""

_NATIVE_NAME = re.compile(
    r"file|path|dir|folder|location|keytab|include|socket$"
    r"|cmd|command|exec|script|class|module|plugin|librar|jaas|oauthbearer\.config"
    r"|reporter|provider|interceptor|engine|supplier|serializer|assign|strateg|handler|partitioner|bindings",
    re.IGNORECASE,
)
"""Rather too many than too few: what is refused can be set on the machine itself."""
_PLAIN_VALUE = re.compile(r"[\w.,:;+*=@%<>() -]*|\$\{\w+\}")
"""No slash, quote or line end: neither a path, nor a second line of a configuration file."""


class Reached(NamedTuple):
    field: str
    """By its dotted path."""
    reach: Reach


def reached(content: BaseModel, place: str = "") -> Iterator[Reached]:
    """All that reaches beyond a workload or a part of it, as far as it is not as usual."""
    yield from _in_model(content, place, _marked_names(type(content)))


def _in_model(content: BaseModel, place: str, marked: Mapping[str, Reach]) -> Iterator[Reached]:
    for name, info in type(content).model_fields.items():
        value, where = getattr(content, name), _joined(place, info.alias or name)
        if value == info.get_default(call_default_factory=True):
            continue
        reach = _reach_of(info)
        if reach is Reach.NATIVE:
            yield from (
                Reached(_joined(where, key), reach) for key, each in value.items() if _tells(key, each)
            )
        elif reach is not None:
            yield Reached(where, reach)
        else:
            # What is typed is what it seems; other content may yet become a part that is marked.
            yield from _in_value(value, where, marked if Any in _parts(info.annotation) else {})


def _in_value(value: Any, place: str, marked: Mapping[str, Reach]) -> Iterator[Reached]:
    """`marked`: what fields are called that reach out."""
    if isinstance(value, BaseModel):
        yield from _in_model(value, place, _marked_names(type(value)))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            where, name = _joined(place, str(key)), str(key).rpartition(".")[2]
            if name in marked:
                yield Reached(where, marked[name])
            else:
                yield from _in_value(item, where, marked)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _in_value(item, _joined(place, str(number)), marked)


def _tells(name: str, value: Any) -> bool:
    is_plain = not isinstance(value, str) or _PLAIN_VALUE.fullmatch(value) is not None
    return _NATIVE_NAME.search(name) is not None or not is_plain


def _reach_of(info: FieldInfo) -> Reach | None:
    marks = [mark for mark in info.metadata if isinstance(mark, Reach)]
    parts = list(_parts(info.annotation))
    if Path in parts:
        marks.append(Reach.FILE)
    marks += [part for part in parts if isinstance(part, Reach)]
    return marks[0] if marks else None


def _marked_names(model: type[BaseModel]) -> dict[str, Reach]:
    """Names of fields of a model, and of models within it, that reach out."""
    found: dict[str, Reach] = {}
    seen, waiting = set[Any](), [model]
    while waiting:
        each = waiting.pop()
        seen.add(each)
        for name, info in each.model_fields.items():
            if (reach := _reach_of(info)) is not None:
                found[info.alias or name] = reach
            inner = [part for part in _parts(info.annotation) if _is_model(part)]
            waiting += [part for part in inner if part not in seen]
    return found


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)


def _parts(annotation: Any) -> Iterator[Any]:
    """Types and marks that an annotation is made of."""
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
